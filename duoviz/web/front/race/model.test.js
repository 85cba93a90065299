// Tests of model.js: what each event adds to what is known of a race.

import assert from "node:assert/strict";
import test from "node:test";
import { endingAt, laneEvents } from "../testing.js";
import { BASELINE, beginning, endedRace, ending, LANES, raceAfter, RUNS, runningRace } from "./testing.js";
import {
  applyRaceEvent, emptyRace, endOf, iterationAt, sidesOf, timeOf, tokensOf, wallOf, writtenBy,
} from "./model.js";

const [SPS, TREE] = [RUNS.filter(({ lane }) => lane === "SpS"), RUNS.filter(({ lane }) => lane === "DuoTree")];
const OVER = "Both runs are over. The replay shows them on one clock, as they were measured.";
const LOST = "The connection to the server was lost";

test("before a race there is nothing to replay", () => {
  const race = emptyRace();
  assert.deepEqual([sidesOf(race), endOf(race), race.phase], [[], 0, "empty"]);
});

test("how far each side has come", () => {
  const race = runningRace();
  const [sps, tree] = sidesOf(race);
  assert.deepEqual([sps, tree].map(wallOf), [2, 4]);
  assert.deepEqual([sps, tree].map(tokensOf), [2, 3]);
  assert.equal(endOf(race), 4, "the slower side's end");
  assert.equal(timeOf(race, sps), 2);
  assert.deepEqual([0.9, 1, 1.9, 9].map((time) => iterationAt(sps, time)), [-1, 0, 0, 1]);
  tree.state.shown = 1;
  assert.equal(writtenBy(tree), 2);
  tree.state.shown = -1;
  assert.equal(writtenBy(tree), 0);
});

test("in the replay, a side's time ends with its run", () => {
  const race = Object.assign(endedRace(), { clock: 3 });
  assert.deepEqual(sidesOf(race).map((lane) => timeOf(race, lane)), [2, 3]);
});

test("what φ compares with is no side", () => {
  const race = raceAfter(beginning({ lanes: [...LANES, BASELINE] }), ...RUNS, ...laneEvents("Vanilla", endingAt(9)));
  assert.deepEqual([sidesOf(race).length, endOf(race)], [2, 4]);
});

test("which run goes on is told", () => {
  const said = (more, ...events) => raceAfter(beginning(more), ...events).message;
  assert.equal(said({}),
    "The methods run one after the other, so neither slows the other.");
  assert.equal(said({}, ...SPS), "Running SpS, alone on the machine.");
  assert.equal(said({ repeats: 3 }, ...SPS, ...laneEvents("SpS", [], { repeat: 1 })),
    "Running SpS, alone on the machine. Round 2 of 3.");
  assert.equal(said({ lanes: [...LANES, BASELINE] }, ...laneEvents("Vanilla", [])),
    "Running the baseline Vanilla, alone on the machine.");
});

test("the last round is shown while it comes, and then the one that stands for the side", () => {
  const race = raceAfter(beginning({ repeats: 2 }), ...SPS, ...laneEvents("SpS", endingAt(1, 2, 3), { repeat: 1 }));
  const [sps] = race.lanes;
  assert.equal(tokensOf(sps), 3);
  for (const event of [...TREE, ending()]) applyRaceEvent(race, event);
  assert.equal(tokensOf(sps), 2);
  assert.deepEqual([...sps.runs.keys()], [0, 1]);
});

test("a side that no round stands for stays as it was shown", () => {
  assert.deepEqual(raceAfter(beginning(), ...RUNS, ending({}, { repeat: null })).lanes.map(tokensOf), [2, 3]);
});

test("a race that is over stands at its end", () => {
  const race = endedRace();
  assert.deepEqual([race.phase, race.clock, race.message], ["done", 4, OVER]);
  assert.ok(race.lanes.every(({ state }) => state.phase === "done" && !state.follow));
});

test("a side that failed, was cut, or never ran", () => {
  const said = (...events) => raceAfter(beginning(), ...events, ending()).message;
  assert.equal(said(...SPS, ...laneEvents("DuoTree", [], { end: { stopped: "error", message: "No room." } })),
    "DuoTree failed; its text so far is kept.");
  assert.equal(said(...SPS, ...laneEvents("DuoTree", endingAt(1), { end: { stopped: "time" } })), "Stopped.");
  assert.equal(said(...SPS, ...laneEvents("DuoTree", [], { end: { stopped: "stopped", message: "Closing." } })),
    "Closing.");
  assert.equal(said(...SPS), "Stopped before both methods had run.");
  const late = laneEvents("DuoTree", endingAt(1), { repeat: 1, end: { stopped: "time", message: "Too late." } });
  assert.equal(said(...RUNS, ...late), "Too late.", "in a later round");
});

test("why a side failed is kept, the first reason told", () => {
  const error = { type: "lane", lane: "SpS", repeat: 0, event: { type: "error", message: "No room." } };
  const race = raceAfter(beginning(), error, ...TREE, ending({}, { error: "Something else." }));
  assert.deepEqual(race.lanes.map((lane) => lane.error), ["No room.", "Something else."]);
});

test("a recorded race says nothing of how it ran, and plays at its own speed", () => {
  const race = raceAfter(beginning({ recorded: true, file: "a.duoviz.json" }), ...RUNS, { ...ending(), speed: 0.5 });
  assert.deepEqual([race.message, race.speed, race.file], ["", 0.5, "a.duoviz.json"]);
  applyRaceEvent(race, beginning());
  assert.deepEqual([race.speed, race.file, race.recorded], [1, null, false], "its speed is not the next one's");
});

test("the visitor's speed is the next race's too", () => {
  const race = Object.assign(endedRace(), { speed: 4 });
  const { epoch } = race;
  applyRaceEvent(race, beginning());
  assert.deepEqual([race.speed, race.epoch, race.clock, race.result], [4, epoch + 1, 0, null]);
});

test("the race before stays until the next one begins", () => {
  const race = Object.assign(endedRace(), { playing: true });
  for (const event of [{ type: "reset" }, { type: "status", text: "Two are before you." }]) applyRaceEvent(race, event);
  const { phase, message, playing } = race;
  assert.deepEqual([phase, message, playing, tokensOf(race.lanes[1])], ["waiting", "Two are before you.", false, 3]);
  applyRaceEvent(race, { type: "end" });
  assert.deepEqual([race.phase, race.message], ["done", "Stopped."]);
});

test("a race that fails stands where it had come to", () => {
  const race = runningRace();
  applyRaceEvent(race, { type: "error", message: "No room." });
  assert.deepEqual([race.phase, race.message, race.clock], ["error", "No room.", 4]);
  const refused = Object.assign(endedRace(), { phase: "waiting", clock: 1 });
  applyRaceEvent(refused, { type: "error", message: "Too long." });
  assert.equal(refused.clock, 1);
});

test("a lost connection, and its return", () => {
  const race = runningRace();
  const before = race.message;
  applyRaceEvent(race, { type: "connection", lost: true });
  assert.equal(race.message, `${LOST}; the earlier part is kept.`);
  applyRaceEvent(race, { type: "connection", lost: false });
  assert.equal(race.message, before);
  assert.equal(raceAfter({ type: "reset" }, { type: "connection", lost: true }).message, `${LOST}.`);
});
