// Tests of lanes.js: how far an axis's ticks are apart.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { tickStep } from "./lanes.js";

test("one, two or five times a power of ten, and no more ticks than wanted", () => {
  const steps = [
    [10, 10, 1], [10, 5, 2], [10, 4, 5], [10, 1.5, 10], [7, 7, 1], [128, 4, 50], [0.03, 4, 0.01], [0.0005, 3, 0.0002],
  ];
  for (const [span, ticks, step] of steps) {
    near(tickStep(span, ticks), step);
    assert.ok(span / tickStep(span, ticks) <= ticks + 1e-9);
  }
});
