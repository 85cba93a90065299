// Tests of costs.js: what a forward takes with a number of tokens between two that were measured.

import test from "node:test";
import { near } from "../testing.js";
import { timeAt } from "./costs.js";

const POINTS = [[1, 0.01], [2, 0.012], [8, 0.03]];

test("the measured times, and straight lines between them", () => {
  const times = [[1, 0.01], [2, 0.012], [8, 0.03], [5, 0.021], [3, 0.015], [1.5, 0.011]];
  for (const [count, seconds] of times) near(timeAt(POINTS, count), seconds);
});
