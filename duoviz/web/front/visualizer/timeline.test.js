// Tests of timeline.js and lanes.js: what part of the time in view each lane is idle, and both are busy; and how far an
// axis's ticks are apart.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, near } from "../testing.js";
import { tickStep } from "./lanes.js";
import { sharesInView } from "./timeline.js";

// The target is busy from 0 to 3 and the draft from 2 to 4, of five seconds.
const ITERATIONS = [
  iterationOf({ target: { start: 0, end: 3, rows: 1 }, draft: [{ start: 2, end: 4, tokens: 1 }], sync: 5 }),
];
const PARALLEL = { parallel: true };
const shares = (header, start = -1, end = 9) => sharesInView(endedState(ITERATIONS, headerOf(header)), { start, end });

test("ticks are one, two or five times a power of ten apart, and no more than wanted", () => {
  const steps = [
    [10, 10, 1], [10, 5, 2], [10, 4, 5], [10, 1.5, 10], [7, 7, 1], [128, 4, 50], [0.03, 4, 0.01], [0.0005, 3, 0.0002],
  ];
  for (const [span, ticks, step] of steps) near(tickStep(span, ticks), step);
});

test("of the whole run, and not of what lies beside it", () => {
  const { from, to, target, draft, overlap } = shares({ about: PARALLEL, can_overlap: true });
  assert.deepEqual([from, to], [0, 5]);
  near(target, 2 / 5);
  near(draft, 3 / 5);
  near(overlap, 1 / 5);
});

test("of a part of it", () => {
  const { target, draft, overlap } = shares({ about: PARALLEL, can_overlap: true }, 2.5, 4.5);
  near(target, 1.5 / 2);
  near(draft, 0.5 / 2);
  near(overlap, 0.5 / 2);
});

test("where they take turns, or have to on one core, nothing is said of an overlap", () => {
  assert.equal(shares({ about: PARALLEL }).overlap, null);
  assert.equal(shares({}).overlap, null);
});

test("a target alone has no draft that is idle", () => {
  const { target, draft, overlap } = shares({ draft: null });
  near(target, 2 / 5);
  assert.deepEqual([draft, overlap], [null, null]);
});
