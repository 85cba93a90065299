// Tests of threshold.js: how many sequences begin, wherever θ is dragged.

import assert from "node:assert/strict";
import test from "node:test";
import { overWords, sequencesOver } from "./threshold.js";

const CANDIDATES = [0.5, 0.3, 0.1].map((p) => ({ p }));

test("a sequence for each first token over the threshold, and one at least", () => {
  assert.deepEqual([0.05, 0.2, 0.4, 0.9].map((theta) => sequencesOver(CANDIDATES, theta, 8)), [3, 2, 1, 1]);
  assert.equal(sequencesOver(CANDIDATES, 0.3, 8), 1, "a token at the threshold is not over it");
});

test("no more than the draft budget", () => {
  assert.deepEqual([1, 2, 3].map((budget) => sequencesOver(CANDIDATES, 0.05, budget)), [1, 2, 3]);
});

test("what is said of it", () => {
  assert.equal(overWords(CANDIDATES, 0.9, 8),
    "No first token is over the threshold, so only the best one begins a sequence: k = 1.");
  assert.equal(overWords(CANDIDATES, 0.4, 8), "1 first token over the threshold: k = 1.");
  assert.equal(overWords(CANDIDATES, 0.2, 8), "2 first tokens over the threshold: k = 2.");
  assert.equal(overWords(CANDIDATES, 0.2, 1), "2 first tokens over the threshold: k = 1, the maximum.");
  assert.equal(overWords(CANDIDATES, 0.05, 8),
    "All 3 first tokens listed are over the threshold: k = 3, the maximum.");
});
