// Tests of chance.js: draws that can be repeated, each outcome as often as its probability says.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { drawIndex, exponentials, largest, uniform } from "./chance.js";

const MANY = 20_000;
const WEIGHTS = [1, 2, 1];
const constant = (value) => () => value;
const drawn = (number, next) => Array.from({ length: number }, next);

// The share of each of three outcomes.
function sharesOf(draw) {
  const counts = [0, 0, 0];
  for (let time = 0; time < MANY; time++) counts[draw()] += 1;
  return counts.map((number) => number / MANY);
}

test("the same seed gives the same draws, another one others", () => {
  assert.deepEqual(drawn(9, uniform(5)), drawn(9, uniform(5)));
  assert.notDeepEqual(drawn(9, uniform(5)), drawn(9, uniform(6)));
});

test("uniform numbers lie between 0 and 1, and are spread evenly", () => {
  const numbers = drawn(MANY, uniform(1));
  assert.ok(numbers.every((number) => number > 0 && number < 1));
  near(numbers.reduce((sum, number) => sum + number, 0) / MANY, 0.5, 0.01);
  const inTenth = (tenth) => numbers.filter((number) => Math.floor(10 * number) === tenth).length;
  for (let tenth = 0; tenth < 10; tenth++) near(inTenth(tenth) / MANY, 0.1, 0.01);
});

test("which outcome a number falls on", () => {
  const indices = [0.1, 0.2499, 0.25, 0.7499, 0.75, 0.999].map((number) => drawIndex(WEIGHTS, constant(number)));
  assert.deepEqual(indices, [0, 0, 1, 1, 2, 2]);
});

test("what has no weight is never drawn, not even where rounding leaves a rest", () => {
  assert.deepEqual([1e-12, 0.999].map((number) => drawIndex([0, 1, 0], constant(number))), [1, 1]);
  assert.equal(drawIndex([1, 1, 0], constant(1)), 1);
});

test("weights are drawn in proportion", () => {
  const next = uniform(2);
  sharesOf(() => drawIndex(WEIGHTS, next)).forEach((share, index) => near(share, WEIGHTS[index] / 4, 0.015));
});

test("with exponential noise, each outcome is the largest with its probability", () => {
  const next = uniform(3);
  const draw = () => {
    const noise = exponentials(3, next);
    return largest(WEIGHTS.map((weight, index) => weight / noise[index]));
  };
  sharesOf(draw).forEach((share, index) => near(share, WEIGHTS[index] / 4, 0.015));
});

test("the largest value, the first of equals", () => {
  assert.deepEqual([[1, 3, 2], [2, 2], [5], [-3, -1]].map(largest), [1, 0, 0, 1]);
});
