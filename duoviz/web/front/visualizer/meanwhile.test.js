// Tests of meanwhile.js: what goes on at a moment of an iteration.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode } from "../testing.js";
import { meanwhile } from "./meanwhile.js";

const PARALLEL = headerOf({ about: { parallel: true }, can_overlap: true });
const [TURNS, BESIDE] = [headerOf(), headerOf({ can_overlap: true })];
const pending = (text, parent = -1) => nodeOf(text, { parent, status: "pending" });

// The target works from 0 to 4, the draft's two steps end at 1 and 2, and the iteration at 5.
const WORKING = {
  index: 1, target: { start: 0, end: 4, rows: 2 }, sync: 5,
  draft: [{ start: 0, end: 1, tokens: 1 }, { start: 1, end: 2, tokens: 1 }],
  checked: [nodeOf("a"), nodeOf("b"), ownNode("own")], drafted: [pending("x"), pending("y", 0)],
};
const says = (iteration, header, clock) => meanwhile(iterationOf({ ...WORKING, ...iteration }), header, clock);

test("both work at once", () => {
  assert.deepEqual([0.5, 1.5, 2.5, 4.5].map((clock) => says({}, PARALLEL, clock)), [
    "The target checks 2 pending tokens while the draft guesses ahead.",
    "The target checks 2 pending tokens while the draft guesses ahead: 1 guess so far.",
    "The target still checks 2 pending tokens; the draft has made 2 guesses and waits.",
    "The target is ready and waits for the draft: 2 guesses so far.",
  ]);
});

test("nothing is pending", () => {
  assert.equal(says({ index: 0, checked: [] }, PARALLEL, 0.5),
    "The target reads the prompt while the draft guesses ahead.");
  assert.equal(says({ checked: [ownNode("own")], draft: [], drafted: [] }, PARALLEL, 0.5),
    "The target computes the next token.");
});

test("in turn", () => {
  const later = { target: { start: 2, end: 4, rows: 3 }, drafted: [] };
  assert.equal(says(later, TURNS, 1.5), "The draft guesses, and the target waits.");
  assert.equal(says(later, TURNS, 2), "The target checks 2 guesses in one forward pass.");
  assert.equal(says(later, BESIDE, 2), "The target checks 2 guesses in one forward pass while the draft continues.");
  assert.equal(says({ ...later, checked: [nodeOf("a")] }, TURNS, 3), "The target checks 1 guess in one forward pass.");
  assert.equal(says({ ...later, checked: [], draft: [] }, TURNS, 1), "The target computes the next token.");
  assert.equal(says({ index: 0, checked: [], draft: [] }, TURNS, 1), "The target reads the prompt.");
});
