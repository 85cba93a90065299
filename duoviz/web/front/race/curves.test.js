// Tests of curves.js: tokens over seconds, in pixels and in words.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { endedRace, raceAfter } from "./testing.js";
import { curveScale, momentWords, stepPath, ticksUpTo } from "./curves.js";

test("each iteration is a step at its end", () => {
  const lane = { iterations: [{ sync: 1 }, { sync: 2 }], totals: [{ tokens: 1 }, { tokens: 3 }] };
  const [toX, toY] = [(time) => 10 * time, (tokens) => 100 - tokens];
  assert.equal(stepPath(lane, toX, toY), "M0.0 100.0H10.0V99.0H20.0V97.0");
  assert.equal(stepPath({ iterations: [], totals: [] }, toX, toY), "M0.0 100.0");
});

test("ticks up to the top", () => {
  assert.deepEqual(ticksUpTo(10, 4), [0, 5, 10]);
  assert.deepEqual(ticksUpTo(0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticksUpTo(1, 1), [0, 1]);
});

test("the slowest lane fills the width, the one with most tokens the height", () => {
  const scale = curveScale(endedRace(), 442);
  assert.deepEqual([scale.seconds, scale.tokens], [4, 3]);
  assert.deepEqual([0, 4].map(scale.toX), [30, 430]);
  assert.deepEqual([0, 3].map(scale.toY), [152, 10]);
  near(scale.toTime(scale.toX(1.5)), 1.5);
});

test("before anything ran there is a scale all the same", () => {
  const scale = curveScale(raceAfter(), 442);
  assert.deepEqual([scale.seconds, scale.tokens], [0.001, 1]);
});

test("how far each lane had come", () => {
  const race = endedRace();
  assert.equal(momentWords(race, 1.2), "At 1.20 s: SpS had 1 token, DuoTree had 0 tokens.");
  assert.equal(momentWords(race, 9), "At 9.00 s: SpS had 2 tokens, DuoTree had 3 tokens.");
});
