// Tests of the race: what each event adds to it, the replay's clock, and what is shown and said at its time.

import assert from "node:assert/strict";
import test from "node:test";
import { endingAt, headerOf, iterationOf, laneEvents, near, recordingOf } from "../testing.js";
import { eventsOf } from "../visualizer/state.js";
import { coresWords, deviceWords, roundsByCores, standing, twinWords } from "./column.js";
import { momentWords } from "./curves.js";
import { headlineOf } from "./finish.js";
import {
  advanceClock, applyRaceEvent, canReplay, createRaceActions, emptyRace, hasEnded, placeSides, showOwn, tokensOf,
} from "./model.js";
import { csvOf, eventsOfLeft, leftOf } from "./race_file.js";

const LANES = ["SpS", "DuoTree"].map((name) => ({ name, method: "made_up", baseline: false }));
const BASELINE = { name: "Vanilla", method: "vanilla", baseline: true };
const beginning = (more = {}) => ({ type: "lanes", lanes: LANES, repeats: 1, ...more });
const ending = (more = {}, laneMore = {}) => ({
  type: "end",
  result: { lanes: LANES.map(({ name }) => ({ name, repeat: 0, error: null, figures: null, ...laneMore })), ...more },
});

// SpS writes a token at 1 and at 2 seconds, and DuoTree at 1.5, 3 and 4.
const SPS = laneEvents("SpS", endingAt(1, 2));
const RUNS = [...SPS, ...laneEvents("DuoTree", endingAt(1.5, 3, 4))];

function after(race, ...events) {
  for (const event of events) applyRaceEvent(race, event);
  return race;
}
const raceAfter = (...events) => after(emptyRace(), ...events);
const running = () => raceAfter(beginning(), ...RUNS);
const ended = (result) => raceAfter(beginning(), ...RUNS, ending(result));
// Its replay stands at this time.
function raceAt(clock, race = ended()) {
  placeSides(Object.assign(race, { clock }));
  return race;
}
const standings = (race) => race.lanes.map((lane) => standing(race, lane));

test("a race as CSV has a line for each run of each lane, and no name is a formula", () => {
  const lanes = [LANES[0], { ...LANES[1], name: '=A1 "x"' }];
  const more = laneEvents("SpS", endingAt(4), { repeat: 1 });
  const other = laneEvents(lanes[1].name, endingAt(0.5));
  const race = raceAfter(beginning({ lanes, repeats: 2 }), ...SPS, ...more, ...other);
  assert.deepEqual(csvOf(race).split("\n").slice(1), [
    '"SpS",1,2,2,1,1,1', '"SpS",2,1,4,0.25,4,1', `"'=A1 ""x""",1,1,0.5,2,0.5,1`, "",
  ]);
});

// A race of recorded runs: as whoever watches it has it, and as it comes back in the page that is loaded anew.
const RECORDED = recordingOf("vanilla");
const recordedLane = (lane, repeat) => (
  eventsOf(RECORDED).slice(1).map((event) => ({ type: "lane", lane, repeat, event })));
const BOTH = [...recordedLane("SpS", 0), ...recordedLane("DuoTree", 0)];
const recordings = ["A", "B"].map((name) => ({
  name, events: () => raceEvents({ lanes: [{ ...LANES[0], name }, LANES[1]], recorded: true }, name) }));
const raceEvents = (more, first = "SpS") => [
  beginning(more), ...recordedLane(first, 0), ...recordedLane("DuoTree", 0), ending({ lanes: [] })];
const broughtBack = async (race, isOpen) => (
  raceAfter(...await eventsOfLeft(JSON.parse(JSON.stringify(leftOf(race, isOpen))), recordings)));

test("a race that a reload cuts off comes back as far as it came, and says so", async () => {
  const again = recordedLane("SpS", 1).slice(0, 9);
  const race = await broughtBack(raceAfter(beginning({ repeats: 2 }), ...BOTH, ...again), true);
  const words = "The page was reloaded during the race; the earlier part is kept.";
  assert.deepEqual([race.phase, race.message, race.recorded], ["error", words, false]);
  const counts = race.lanes.map((lane) => [...lane.runs.values()].map(({ iterations }) => iterations.length));
  const { length } = RECORDED.iterations;
  assert.deepEqual(counts, [[length, 8], [length]]);
  assert.ok(canReplay(race));
  // Where its replay was moved to, and what was said, are there after a further reload too.
  const { phase, message, clock } = await broughtBack(Object.assign(race, { clock: 0.01 }), false);
  assert.deepEqual([phase, message, clock], ["error", words, 0.01]);
});

test("one that has ended is there again at its clock, also where the next one waited, behind files', and a recorded one", async () => {
  const at = (clock, ...events) => Object.assign(raceAfter(...events), { clock, speed: 2, playing: true });
  const standsAt = ({ phase, message, clock, speed, playing }) => [phase, message, clock, speed, playing];
  const over = () => at(0.01, ...raceEvents());
  const race = await broughtBack(over(), false);
  assert.deepEqual(standsAt(race), ["done", over().message, 0.01, 2, false]);
  assert.deepEqual(race.result, over().result);
  const waiting = await broughtBack(after(over(), { type: "reset" }), true);
  assert.deepEqual(standsAt(waiting), ["done", "The page was reloaded before your next race began; this is the one before.", 0.01, 2, false]);
  const files = ["b.json", "a.json"].flatMap((file) => raceEvents({ recorded: true, file }));
  const opened = await broughtBack(Object.assign(after(over(), ...files), { clock: 0.02 }), false);
  assert.deepEqual([opened.file, opened.recorded, opened.clock], ["a.json", true, 0.02]);
  showOwn(opened);
  assert.deepEqual([standsAt(opened), opened.file, opened.recorded], [standsAt(race), null, false]);
  const recorded = await broughtBack(at(0.01, ...recordings[1].events()), false);
  assert.deepEqual([recorded.recorded, recorded.lanes[0].name, recorded.clock], [true, "B", 0.01]);
  // Of one that had not begun nothing can be shown.
  const older = { ...leftOf(over(), false), clock: undefined };
  for (const left of [leftOf(after(emptyRace(), { type: "reset" }), true), older]) {
    const lost = raceAfter(...await eventsOfLeft(left, recordings));
    assert.deepEqual([lost.lanes[0].name, lost.message.split(".")[0]], ["A", "The page was reloaded, and your race was lost"]);
  }
  assert.equal(leftOf(emptyRace(), false), null);
});

test("the status names the run that goes on, and its result", () => {
  const over = "Both runs are over. The replay shows them on one clock, as they were measured.";
  const tree = (stopped, { message, times = [1], ...more } = {}) => (
    [...SPS, ...laneEvents("DuoTree", endingAt(...times), { end: { stopped, message }, ...more }), ending()]);
  const said = [
    [[], "The methods run one after the other, so neither slows the other."],
    // SpS took 2 s, and DuoTree 4 s; what no run of a lane has told takes as long as the others'.
    [SPS.slice(0, -1), "Running SpS: run 1 of 2."],
    [SPS, "Running SpS: run 1 of 2, about 2 s left."],
    [[...SPS, ...laneEvents("SpS", [], { repeat: 1 }).slice(0, 1)], "Running SpS: run 2 of 6, about 10 s left.", { repeats: 3 }],
    [[...RUNS, ...laneEvents("SpS", endingAt(1), { repeat: 1 }).slice(0, -1)], "Running SpS: run 3 of 20, about 55 s left.", { repeats: 10 }],
    [laneEvents("Vanilla", []).slice(0, 1), "Running Vanilla, the baseline: run 1 of 3.", { lanes: [...LANES, BASELINE] }],
    [[...RUNS, ending()], over],
    [[...RUNS, ending()], "All rounds are over. The replay shows the median round of each on one clock, as measured.", { repeats: 3 }],
    [[...RUNS, ending()], "", { recorded: true }],
    [tree("error", { message: "No room." }), "DuoTree failed; its text so far is kept."],
    [tree("time"), "Stopped."], [tree("stopped", { message: "Closing.", times: [] }), "Closing."],
    // In a later round.
    [[...RUNS, ...tree("time", { message: "Too late.", repeat: 1 })], "Too late."],
    [[...SPS, ending()], "Stopped before both methods had run."],
  ];
  for (const [events, message, more] of said) assert.equal(raceAfter(beginning(more), ...events).message, message);
});

test("the last round is shown while it comes, and then the one that stands for the side, if any", () => {
  const race = raceAfter(beginning({ repeats: 2 }), ...RUNS, ...laneEvents("SpS", endingAt(1, 2, 3), { repeat: 1 }));
  assert.equal(tokensOf(race.lanes[0]), 3);
  assert.deepEqual(after(race, ending()).lanes.map(tokensOf), [2, 3]);
  assert.deepEqual([race.phase, race.clock, [...race.lanes[0].runs.keys()]], ["done", 4, [0, 1]]);
  assert.ok(race.lanes.every(({ state }) => state.phase === "done" && !state.follow));
  assert.deepEqual(raceAfter(beginning(), ...RUNS, ending({}, { repeat: null })).lanes.map(tokensOf), [2, 3]);
});

test("why a side failed is kept, the first reason told", () => {
  const error = { type: "lane", lane: "SpS", repeat: 0, event: { type: "error", message: "No room." } };
  const race = raceAfter(beginning(), error, ...RUNS.slice(SPS.length), ending({}, { error: "Something else." }));
  assert.deepEqual(race.lanes.map((lane) => lane.error), ["No room.", "Something else."]);
});

test("the race before stays until the next one begins; one that fails stands where it had come to", () => {
  const race = Object.assign(ended(), { playing: true });
  after(race, { type: "reset" }, { type: "status", text: "Two are before you." });
  const { phase, message, playing } = race;
  assert.deepEqual([phase, message, playing, tokensOf(race.lanes[1])], ["waiting", "Two are before you.", false, 3]);
  // One that was told of and has nothing to show yet.
  after(race, beginning({ repeats: 2 }), SPS[0]);
  assert.deepEqual([race.phase, race.repeats, tokensOf(race.lanes[1])], ["waiting", 1, 3]);
  assert.equal(after(race, { type: "end" }).message, "Stopped.");
  assert.deepEqual([race.repeats, tokensOf(race.lanes[1]), race.result !== null], [1, 3, true]);
  const { phase: stood } = after(ended(), { type: "reset" }, { type: "error", message: "Empty." }, { type: "changed" });
  assert.equal(stood, "done", "the question is another one");
  const next = after(race, { type: "reset" }, beginning({ repeats: 2 }), ...SPS.slice(0, 2));
  assert.deepEqual([next.phase, next.repeats, next.lanes.map(tokensOf)], ["running", 2, [1, 0]]);
  const failed = [running(), Object.assign(ended(), { phase: "waiting", clock: 1 })].map((each) => (
    after(each, { type: "error", message: "No room." })));
  assert.deepEqual(failed.map((each) => [each.phase, each.message, each.clock]), [["error", "No room.", 4], ["error", "No room.", 1]]);
});

test("a lost connection, and its return", () => {
  const [race, { message: before }] = [running(), running()];
  const [lost, back] = [true, false].map((isLost) => ({ type: "connection", lost: isLost }));
  assert.equal(after(race, lost).message, "The connection to the server was lost; the earlier part is kept.");
  assert.equal(after(race, back).message, before);
  assert.equal(raceAfter({ type: "reset" }, lost).message, "The connection to the server was lost.");
});

function acted(race) {
  const actions = createRaceActions(race, () => {});
  const reached = (act, times, value = "clock") => Array.from({ length: times }, () => { act(); return race[value]; });
  return { race, actions, reached };
}

test("the clock is set within the race, and stepped from end to end of either side's iterations", () => {
  const { race, actions, reached } = acted(Object.assign(ended(), { playing: true }));
  assert.deepEqual([2.5, 99, -1].map((seconds) => reached(() => actions.setClock(seconds), 1)[0]), [2.5, 4, 0]);
  assert.equal(race.playing, false);
  assert.deepEqual(reached(actions.forward, 6), [1, 1.5, 2, 3, 4, 4]);
  assert.deepEqual(reached(actions.back, 6), [3, 2, 1.5, 1, 0, 0]);
  assert.deepEqual([...reached(actions.last, 1), ...reached(actions.first, 1)], [4, 0]);
  assert.deepEqual(reached(actions.faster, 4, "speed"), [2, 4, 4, 4]);
  assert.deepEqual(reached(actions.slower, 6, "speed"), [2, 1, 0.5, 0.25, 0.1, 0.1]);
});

test("playing begins where the clock stands, and at the end from the beginning", () => {
  const { race, actions } = acted(ended());
  assert.equal(hasEnded(race), true);
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [true, 0]);
  race.clock = 1.2;
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [false, 1.2]);
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [true, 1.2]);
});

test("the clock goes on by what has passed, not by a long pause, and stops at the end", () => {
  const race = Object.assign(ended(), { clock: 0, playing: true, speed: 2 });
  advanceClock(race, 0.1);
  near(race.clock, 0.2);
  advanceClock(race, 60);
  near(race.clock, 0.7);
  advanceClock(Object.assign(race, { clock: 3.9 }), 0.1);
  assert.deepEqual([race.clock, race.playing], [4, false]);
});

test("who has finished, and who first; not where the machine was disturbed, both took as long, or one was cut", () => {
  const expected = [["", ""], ["first", ""], ["first", "finished"]];
  assert.deepEqual([1.9, 2, 4].map((clock) => standings(raceAt(clock))), expected);
  assert.deepEqual(standings(ended({ disturbance: "The machine was busy." })), ["finished", "finished"]);
  const both = (sps, tree, more) => standings(raceAfter(
    beginning(), ...laneEvents("SpS", endingAt(...sps), more), ...laneEvents("DuoTree", endingAt(...tree)), ending()));
  assert.deepEqual(both([2], [1, 2]), ["finished", "finished"]);
  assert.deepEqual(both([1], [], { end: { stopped: "time" } }), ["cut short", ""]);
});

test("when each side wrote a token, and how far each had come at a time", () => {
  const several = [
    iterationOf({ sync: 0.5, committed: ["A", " rain"] }), iterationOf({ index: 1, sync: 1, committed: ["bow"] }),
  ];
  const race = raceAfter(beginning(), ...laneEvents("SpS", several), ...laneEvents("DuoTree", endingAt(1.5)), ending());
  assert.deepEqual([0, 1, 2, 3].map((token) => twinWords(race, token)), [
    `Token 1: SpS wrote "A" at 500\u00a0ms, DuoTree wrote "t0" at 1.50\u00a0s.`, `Token 2: SpS wrote "rain" at 500\u00a0ms.`,
    `Token 3: SpS wrote "bow" at 1.00\u00a0s.`, "",
  ]);
  assert.equal(momentWords(ended(), 1.2), "At 1.20\u00a0s: SpS had 1 token, DuoTree had 0 tokens.");
});

test("who leads, and at the finish who was faster, or that it cannot be said", () => {
  const headlineAt = (clock, more) => headlineOf(raceAt(clock, ended({ headline: "SpS was faster.", ...more })));
  assert.deepEqual([0.5, 1, 1.5, 4].map((clock) => headlineAt(clock)), [
    "After 500\u00a0ms: both have written 0 tokens.", "After 1.00\u00a0s: SpS is 1 token ahead.",
    "After 1.50\u00a0s: both have written 1 token.", "SpS was faster.",
  ]);
  assert.equal(headlineAt(4, { disturbance: "The machine was busy." }), "The machine was busy.");
  const alone = raceAfter(beginning(), ...laneEvents("SpS", endingAt(1)), ending({ headline: "One ran." }));
  assert.deepEqual([running(), raceAt(0.5, alone)].map(headlineOf), ["", ""]);
});

test("sides on other cores say why, unless the visitor chose the cores", () => {
  const [one, both] = ["CPU core 1", "CPU cores 0, 1"];
  const words = (device, draft, cores = "auto") => {
    const race = running();
    const [first, second] = race.lanes;
    first.state.header = headerOf({ target: { device: one }, draft: { device: "CPU core 0" } });
    second.state.header = headerOf({ target: { device }, draft: draft && { device: draft }, settings: { cores } });
    return coresWords(race);
  };
  assert.match(words(both, null), /SpS keeps one for its small model\. “Equal cores” adds the large/);
  assert.equal(words(both, both), words(both, null));
  // The large models have the same core, but one side has a second.
  assert.match(words(one, null), /SpS keeps one for its small model\.$/);
  assert.deepEqual([words(one, "CPU core 0"), words(both, null, "target"), coresWords(emptyRace())], ["", "", ""]);
});

test("a side says in how many rounds its large model had other cores", () => {
  const lane = { state: { header: null }, runs: new Map() };
  assert.match(deviceWords(lane), /Waiting/);
  const header = (cores) => headerOf({ target: { device: `CPU ${cores} (AMD EPYC)` }, draft: null });
  lane.state.header = header("core 1");
  const each = [1, 2].map((sync) => ({ sync, committed: [{}, {}] }));
  ["core 1", "cores 0, 1", "cores 0, 1"].forEach((cores, repeat) => lane.runs.set(repeat, { header: header(cores), iterations: each }));
  assert.equal(deviceWords(lane), "large model on CPU core 1");
  assert.equal(roundsByCores(lane), "CPU core 1: 1 round, 2.0 tokens/s; CPU cores 0, 1: 2 rounds, 2.0 tokens/s");
  lane.runs.delete(0);
  assert.equal(roundsByCores(lane), "");
});
