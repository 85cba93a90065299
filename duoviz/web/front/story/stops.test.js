// Tests of finding.js and stops.js: what the story finds in the recorded runs, and what it leaves out.

import { headerOf, iterationOf, nodeOf, ownNode, recordingOf, tokenOf } from "../testing.js";
import { firstOf, tailBefore } from "./finding.js";
import { slowerOf, stopsOf } from "./stops.js";
import assert from "node:assert/strict";
import test from "node:test";

const [TOLD, ALONE] = ["duodecoding", "vanilla"].map(recordingOf);
const byKind = (stops) => Object.fromEntries(stops.map((stop) => [stop.kind, stop]));
const textsOf = (tokens) => tokens.map(({ text }) => text).join("");
const wordsOf = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const statusesOf = (nodes) => nodes.map(({ status }) => status);

test("the recorded runs tell all seven stops, in few words", () => {
  const stops = stopsOf(TOLD, ALONE);
  assert.deepEqual(stops.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7]);
  for (const { words, title, seen } of stops) {
    assert.ok(wordsOf(words) <= 25, words);
    assert.ok(title && seen.endsWith("."));
  }
});

test("the guesses of one stop are what the next two check", () => {
  const { guess, right, wrong } = byKind(stopsOf(TOLD, ALONE));
  assert.equal(guess.iteration.verdict.outcome, "hit");
  assert.equal(right.iteration, TOLD.iterations[guess.iteration.index + 1]);
  assert.equal(wrong.iteration, right.iteration);
  const waiting = guess.iteration.drafted.filter(({ status }) => status === "pending");
  const checked = right.iteration.checked.filter(({ status }) => status !== "correction");
  assert.equal(textsOf(waiting), textsOf(checked));
  assert.ok(right.accepted > 1);
  assert.ok(statusesOf(checked).includes("rejected"));
  // What is read there is what stands in the text.
  assert.ok(TOLD.end.text.includes(textsOf([...wrong.tail.tokens, ...wrong.iteration.committed])));
  assert.equal(textsOf(wrong.alone.tokens), textsOf([...wrong.tail.tokens, ...wrong.iteration.committed]));
});

test("one beginning where the draft was sure, several where it was not, and θ between the bars", () => {
  const { parts: [sure, unsure] } = byKind(stopsOf(TOLD, ALONE)).several;
  assert.equal(sure.iteration.sequences, 1);
  assert.ok(unsure.iteration.sequences > 1);
  for (const { iteration, candidates, nodes } of [sure, unsure]) {
    const over = candidates.filter(({ p }) => p > iteration.theta);
    assert.deepEqual(over.map(({ id }) => id), nodes.filter(({ parent }) => parent < 0).map(({ id }) => id));
  }
});

test("the race has both runs' measured speeds, and says whether one is faster", () => {
  const { race, cheap } = byKind(stopsOf(TOLD, ALONE));
  assert.deepEqual(race.sides.map(({ tokens }) => tokens.length), [128, 128]);
  assert.deepEqual(race.sides.map(({ passes }) => passes), [TOLD.iterations.length, ALONE.iterations.length]);
  const costs = TOLD.header.calibration.target.filter(([rows]) => [1, 8].includes(rows)).map(([, seconds]) => seconds);
  assert.deepEqual([cheap.one, cheap.many, cheap.rows], [...costs, 8]);
  const faster = { ...TOLD, iterations: TOLD.iterations.map((each) => ({ ...each, sync: each.sync / 2 })) };
  const ratio = 2 * ALONE.iterations.at(-1).sync / TOLD.iterations.at(-1).sync;
  assert.ok(byKind(stopsOf(faster, ALONE)).race.words.includes(`${ratio.toFixed(1)} times as fast`));
  // As fast, half as fast, and with as many passes.
  const paced = (speed, alone = ALONE) => {
    const pace = alone.iterations.at(-1).sync / TOLD.iterations.at(-1).sync / speed;
    const iterations = TOLD.iterations.map((each) => ({ ...each, sync: pace * each.sync }));
    return byKind(stopsOf({ ...TOLD, iterations }, alone)).race.words;
  };
  const passes = `The same text in ${TOLD.iterations.length} passes through the large model, not ${ALONE.iterations.length}.`;
  for (const [speed, long] of [[1.04, "about as"], [0.96, "about as"], [0.5, "2.0 times as"]]) {
    assert.equal(paced(speed), `${passes} Here that takes ${long} long: alone, it has both models' cores.`);
  }
  assert.match(paced(1.1), /^The same text, 1\.10 times as fast: /);
  assert.match(paced(1, TOLD), /passes through the large model: no guess was right\. Here that takes about as long\.$/);
});

const timed = (index, more) => {
  const [start, end] = [index, index + 0.9];
  return iterationOf({ index, target: { start, end, rows: 1 }, sync: end, ...more });
};
const HEADER = headerOf({
  prompt: "Why?", about: { parallel: true, title: "DuoDecoding" }, calibration: { target: [[1, 0.02], [4, 0.05]] },
});
const pending = (text, parent) => nodeOf(text, { parent, status: "pending" });

// The prompt, a hit of one sequence with one token that waits, and the check that accepts it.
const made = () => ({
  header: HEADER,
  iterations: [
    timed(0, { committed: ["A"], checked: [ownNode("A")] }),
    timed(1, {
      committed: [" b"], drafted: [nodeOf(" b"), pending(" c", 0)], sequences: 1,
      verdict: { outcome: "hit", sequence: 1 },
    }),
    timed(2, { committed: [" c", " d"], checked: [nodeOf(" c"), ownNode(" d", { parent: 0 })] }),
  ],
});
const aloneOf = (texts) => ({
  header: { ...HEADER, method: "vanilla" },
  iterations: texts.map((text, index) => timed(index, { committed: [text] })),
});

test("of a small run the stops that it holds are told, and keep their numbers", () => {
  const stops = stopsOf(made(), null);
  assert.deepEqual(stops.map(({ number }) => number), [2, 3, 4]);
  const { cheap, right } = byKind(stops);
  assert.equal(cheap.rows, 4);
  assert.match(cheap.words, /Checking four tokens takes 2\.5 times as long/);
  assert.equal(textsOf(right.tail.tokens), "A b");
  // The same text alone makes the first and the last one; another text only the first.
  const kinds = (texts) => stopsOf(made(), aloneOf(texts)).map(({ kind }) => kind);
  assert.deepEqual(kinds(["A", " b", " c", " d", " e"]), ["one", "cheap", "guess", "right", "race"]);
  assert.deepEqual(kinds(["A", " b", " c", " d", " e"].toReversed()), ["one", "cheap", "guess", "right"]);
  assert.deepEqual(kinds(["A"]), ["cheap", "guess", "right"]);
  const other = { ...aloneOf(["A", " b", " c", " d", " e"]), header: { ...HEADER, prompt: "How?" } };
  assert.deepEqual(stopsOf(made(), other).map(({ number }) => number), [2, 3, 4]);
});

test("a run without guesses and costs tells nothing but what it is", () => {
  const bare = { header: headerOf({ calibration: null }), iterations: [timed(0, { committed: ["A"] })] };
  assert.deepEqual(stopsOf(bare, null), []);
});

test("a wish is given up where nothing fulfils it, but the first", () => {
  const isEven = (value) => value % 2 === 0;
  const isLarge = (value) => value > 9;
  assert.equal(firstOf([1, 2, 12], [isEven, isLarge]), 12);
  assert.equal(firstOf([1, 2, 3], [isEven, isLarge]), 2);
  assert.equal(firstOf([1, 3, 11], [isEven, isLarge]), null);
});

test("the text's end begins with its line or with a word", () => {
  const iterations = ["One", "\n", "Two", " three"].map((text) => iterationOf({ committed: [tokenOf(text)] }));
  const { isCut: isLineCut, tokens: line } = tailBefore(iterations, 4);
  assert.deepEqual([isLineCut, textsOf(line)], [false, "Two three"]);
  assert.deepEqual(tailBefore(iterations, 0), { isCut: false, tokens: [] });
  const long = Array.from({ length: 40 }, (_, index) => iterationOf({ committed: [index % 2 ? "ing" : " walk"] }));
  const { isCut, tokens } = tailBefore(long, 40);
  assert.ok(isCut && tokens[0].text === " walk" && textsOf(tokens).length <= 60);
});

test("what is slow already is not shown slower", () => {
  assert.equal(slowerOf({ iterations: [timed(0, {}), timed(1, {})] }), 2);
  assert.equal(slowerOf({ iterations: [iterationOf({ target: { start: 0, end: 0.017, rows: 1 } })] }), 100);
});
