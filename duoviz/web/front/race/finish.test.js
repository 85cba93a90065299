// Tests of finish.js: who leads, who was faster, and what φ compares with.

import assert from "node:assert/strict";
import test from "node:test";
import { endingAt, laneEvents } from "../testing.js";
import { beginning, endedRace, ending, raceAfter, raceAt, runningRace } from "./testing.js";
import { baselineWords, headlineOf } from "./finish.js";

const headlineAt = (clock, race = endedRace({ headline: "SpS was faster." })) => headlineOf(raceAt(clock, race));

test("who leads, until the slower side's end", () => {
  assert.equal(headlineAt(0.5), "After 500 ms: both have written 0 tokens.");
  assert.equal(headlineAt(1), "After 1.00 s: SpS is 1 token ahead.");
  assert.equal(headlineAt(1.5), "After 1.50 s: both have written 1 token.");
  assert.equal(headlineAt(3.9), "After 3.90 s: both have written 2 tokens.");
});

test("at the finish, who was faster; or that it cannot be said", () => {
  assert.equal(headlineAt(4), "SpS was faster.");
  assert.equal(headlineAt(4, endedRace({ headline: "SpS was faster.", disturbance: "The machine was busy." })),
    "The machine was busy.");
  assert.equal(headlineAt(4, endedRace()), "");
});

test("nothing is said before the end, nor of one side alone", () => {
  assert.equal(headlineOf(runningRace()), "");
  const alone = raceAfter(beginning(), ...laneEvents("SpS", endingAt(1)), ending({ headline: "One ran." }));
  assert.equal(headlineAt(0.5, alone), "");
});

test("what φ compares with", () => {
  const [all, target] = [{ tps: 57.04, device: "CPU cores 0, 1" }, { tps: 46.5, device: "CPU core 1" }];
  assert.equal(baselineWords({ all, target }),
    "φ is the speed-up over the fastest vanilla here, in the same precision: "
    + "57.0 tokens/s on CPU cores 0, 1. "
    + "Like for like, on the cores of DuoDecoding's target: 46.5 tokens/s on CPU core 1.");
  assert.match(baselineWords({ all: null, target: null }),
    /^The speed-up φ was not measured.* press “Like for like”: one more run\.$/);
});
