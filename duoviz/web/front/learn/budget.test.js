// Tests of budget.js: who waits for whom.

import assert from "node:assert/strict";
import test from "node:test";
import { waiting } from "./budget.js";

test("the faster side waits for the other", () => {
  assert.equal(waiting(0.02, 0.015), "The draft waits 5.0 ms for the target.");
  assert.equal(waiting(0.02, 0.03), "The target waits 10.0 ms for the draft.");
  assert.equal(waiting(0.02, 0.02), "Both are ready at the same time.");
});

test("what is too short to be written is no waiting", () => {
  // Three steps of 0.1 are a little more than 0.3.
  assert.equal(waiting(0.3, 3 * 0.1), "Both are ready at the same time.");
});
