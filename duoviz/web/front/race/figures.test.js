// Tests of figures.js: both sides' figures so far, and how many rounds those at the end stand for.

import assert from "node:assert/strict";
import test from "node:test";
import { raceAt } from "./testing.js";
import { roundsWords, soFar, spreadWords } from "./figures.js";

test("as far as the clock has come", () => {
  const race = raceAt(3);
  const figures = race.lanes.map((lane) => soFar(race, lane));
  assert.deepEqual(figures, [{ tau: 1, ttft: 1, tps: 1 }, { tau: 1, ttft: 1.5, tps: 2 / 3 }]);
  const nothing = { tau: undefined, ttft: undefined, tps: null };
  assert.deepEqual(soFar(raceAt(1, race), race.lanes[1]), nothing, "nothing is written yet");
});

test("from the slowest to the fastest, where there were several rounds", () => {
  assert.equal(spreadWords({ runs: 3, tps_lowest: 40.04, tps_highest: 52.5 }), "40.0 to 52.5");
  assert.equal(spreadWords({ runs: 1, tps_lowest: 40, tps_highest: 40 }), "");
});

test("how many rounds count", () => {
  assert.equal(roundsWords([1, 1]), "One round");
  assert.equal(roundsWords([0, 1]), "One round");
  assert.equal(roundsWords([3, 3]), "Medians of 3 rounds, and φ between these; tokens/s from the slowest to the fastest");
  assert.match(roundsWords([3, 1]), /^Medians of 3 and 1 rounds/);
});
