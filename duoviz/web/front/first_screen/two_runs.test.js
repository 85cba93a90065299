// Tests of two_runs.js: what was written, what is computed, and where it begins to pay.

import assert from "node:assert/strict";
import test from "node:test";
import { areSame, expectedRun, paysFrom, writtenIn } from "./two_runs.js";

// Iterations of a second each that write so many tokens, the first of them after two.
function run(sizes, seconds = 1) {
  let number = 0;
  const iterations = sizes.map((size, index) => ({
    index, sync: 2 + index * seconds, target: { start: 1 + index * seconds, end: 2 + index * seconds, rows: 1 },
    draft: index ? [{ start: 1 + index * seconds, end: 1.25 + index * seconds, tokens: 1 }] : [],
    committed: Array.from({ length: size }, () => ({ text: `${number++} `, source: "target" })),
  }));
  return { header: {}, iterations };
}

test("all tokens of a run, and whether both wrote the same", () => {
  const [both, alone] = [run([3, 3]), run(Array(6).fill(1))].map(writtenIn);
  assert.deepEqual([both.tokens.map(({ at }) => at), both.wall, alone.wall], [[0, 0, 0, 1, 1, 1], 3, 7]);
  assert.ok(areSame(both, alone) && !areSame(both, writtenIn(run([1, 1]))));
});

test("a computed run keeps the recorded iteration's times and writes the given number of tokens", () => {
  const recorded = writtenIn(run([1, ...Array(31).fill(2), 1]));
  const computed = expectedRun(recorded, 1.5);
  assert.deepEqual(computed.tokens.map(({ text }) => text), recorded.tokens.map(({ text }) => text));
  assert.equal(computed.wall, 2 + 42);
  assert.deepEqual(computed.iterations[1].draft.map(({ start, end }) => [start, end]), [[2, 2.25]]);
  assert.equal(expectedRun(recorded, 1).wall, 2 + 63);
  // What no token was left for is not made.
  assert.ok(computed.iterations.every(({ committed }) => committed.length > 0));
});

test("it pays from the share on at which it is 5 % faster", () => {
  const recorded = writtenIn(run([1, ...Array(31).fill(2), 1]));
  const expected = { rates: [0, 0.5, 1], tokens: [1, 1.5, 3] };
  assert.equal(paysFrom(recorded, 1.05 * (2 + 42), expected), 0.5);
  assert.equal(paysFrom(recorded, 1, expected), null);
  assert.equal(paysFrom(recorded, 100, expected), null);
});
