// What the tests of these modules share: the recorded runs, and made-up ones as small as a test needs them.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { eventsOf, stateAfter } from "./visualizer/state.js";

const TRACES = new URL("../../../assets/traces/", import.meta.url);
const ENDING = ".duoviz.json";

export const recordingOf = (method, name = "story") => (
  JSON.parse(readFileSync(new URL(`${name}/${method}${ENDING}`, TRACES), "utf8")));
export const recordings = () => ["story", "lessons", "game"].flatMap((name) => (
  readdirSync(new URL(name, TRACES)).filter((file) => file.endsWith(ENDING))
    .map((file) => recordingOf(file.slice(0, -ENDING.length), name))));

// A proposed token, a first one that was accepted; the target's own; and one of the text. `more`: what is otherwise.
export const nodeOf = (text, more = {}) => ({
  id: 1, text, parent: -1, source: "draft", q: null, count: null, p: null, status: "accepted", ...more,
});
export const ownNode = (text, more = {}) => nodeOf(text, { source: "target", status: "correction", ...more });
export const tokenOf = (text, source = "target") => ({ id: 1, text, source, gap: null });

// One that took the first second of its run and did nothing; `committed` and `verdict` may be given in short.
export function iterationOf({ committed = [], verdict = {}, ...more } = {}) {
  return {
    index: 0, mode: null, target: { start: 0, end: 1, rows: 1 }, draft: [], sync: 1, budget: null, longest: null,
    factors: null, theta: null, sequences: null, candidates: [], matched: null, checked: [], drafted: [],
    verdict: { outcome: "none", tested: 0, accepted: 0, sequence: null, ...verdict },
    committed: committed.map((token) => (typeof token === "string" ? tokenOf(token) : token)), ...more,
  };
}

// Of a method that takes turns with a draft, unless `about` says otherwise.
export function headerOf({ about = {}, settings = {}, ...more } = {}) {
  return {
    schema: 1, method: "made_up", pair: "embedded", prompt: "Why?", prompt_tokens: 36, can_overlap: false, date: null,
    target: { name: "large", device: "CPU core 1 (AMD EPYC)", precision: "float32" },
    draft: { name: "small", device: "CPU core 0 (AMD EPYC)", precision: "int8" },
    about: {
      title: "Made up", name: "A made-up method", draft: true, parallel: false, statuses: [], numbers: [],
      proposers: [{ id: "draft", token: "token from the draft", origin: "from the draft", counts: "" }],
      caption: "", verified: "The draft proposed {tokens:# token|# tokens}",
      nothing: "Nothing was proposed", ...about,
    },
    settings: { max_new_tokens: 128, seed: 0, sequences: "dynamic", cores: "auto", ...settings }, ...more,
  };
}

const END = { stopped: "length" };

// What the page knows of a run that has come to its last iteration and goes on; and of one that has ended.
export const stateOf = (iterations, header = headerOf()) => stateAfter(eventsOf({ header, iterations }).slice(0, -1));
export const endedState = (iterations, header = headerOf()) => (
  stateAfter(eventsOf({ header, iterations, end: END, metrics: null })));

// The same but for how fractions are rounded; null is only the same as null.
export function near(actual, expected, within = 1e-9) {
  if (expected === null || actual === null) return assert.equal(actual, expected);
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not ${expected}`);
}

// What the feed of a race tells of one run of a lane.
export function laneEvents(lane, iterations, { repeat = 0, end = END } = {}) {
  const [, ...events] = eventsOf({ header: headerOf(), iterations, end, metrics: null });
  return events.map((event) => ({ type: "lane", lane, repeat, event }));
}

// Iterations that end at these times, each with one token.
export const endingAt = (...times) => (
  times.map((sync, index) => iterationOf({ index, sync, committed: [`t${index}`] }))
);
