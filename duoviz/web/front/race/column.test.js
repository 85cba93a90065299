// Tests of column.js: how a side stands at the replay's time.

import assert from "node:assert/strict";
import test from "node:test";
import { endingAt, iterationOf, laneEvents } from "../testing.js";
import { beginning, endedRace, ending, raceAfter, raceAt, runningRace } from "./testing.js";
import { countersOf, standing, twinWords } from "./column.js";

const standings = (race) => race.lanes.map((lane) => standing(race, lane));

test("who has finished, and who first", () => {
  assert.deepEqual(standings(raceAt(1.9)), ["", ""]);
  assert.deepEqual(standings(raceAt(2)), ["✓ first", ""]);
  assert.deepEqual(standings(endedRace()), ["✓ first", "finished"]);
  assert.deepEqual(standings(runningRace()), ["", ""]);
});

test("nobody is first where the machine was disturbed, or both took as long", () => {
  assert.deepEqual(standings(endedRace({ disturbance: "The machine was busy." })), ["finished", "finished"]);
  const runs = [...laneEvents("SpS", endingAt(2)), ...laneEvents("DuoTree", endingAt(1, 2))];
  assert.deepEqual(standings(raceAfter(beginning(), ...runs, ending())), ["finished", "finished"]);
});

test("a side that was cut is not first, and one without a token does not stand anywhere", () => {
  const runs = [...laneEvents("SpS", endingAt(1), { end: { stopped: "time" } }), ...laneEvents("DuoTree", [])];
  assert.deepEqual(standings(raceAfter(beginning(), ...runs, ending())), ["cut short", ""]);
});

test("tokens, seconds, and what they come to", () => {
  const race = raceAt(3);
  const counters = race.lanes.map((lane) => countersOf(race, lane));
  assert.deepEqual(counters, [{ tokens: 2, seconds: 2, tps: 1 }, { tokens: 2, seconds: 3, tps: 2 / 3 }]);
  assert.deepEqual(countersOf(raceAt(0, race), race.lanes[0]), { tokens: 0, seconds: 0, tps: null });
});

test("when each side wrote a token", () => {
  const several = [
    iterationOf({ sync: 0.5, committed: ["A", " rain"] }), iterationOf({ index: 1, sync: 1, committed: ["bow"] }),
  ];
  const race = raceAfter(beginning(), ...laneEvents("SpS", several), ...laneEvents("DuoTree", endingAt(1.5)), ending());
  assert.equal(twinWords(race, 0), `Token 1: SpS wrote "A" at 500 ms, DuoTree wrote "t0" at 1.50 s.`);
  assert.equal(twinWords(race, 1), `Token 2: SpS wrote "rain" at 500 ms.`);
  assert.equal(twinWords(race, 2), `Token 3: SpS wrote "bow" at 1.00 s.`);
  assert.equal(twinWords(race, 3), "");
});
