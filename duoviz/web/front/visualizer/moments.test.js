// Tests of moments.js: when each guess was made and when it was judged.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings } from "../testing.js";
import { candidatesKnown, lookAt, timesOf } from "./moments.js";

const PARALLEL = headerOf({ about: { parallel: true } });
const TURNS = headerOf();

// Steps that end at 1, 2, 3 …, each of so many tokens.
const stepsOf = (...tokens) => tokens.map((each, index) => ({ start: index, end: index + 1, tokens: each }));
const chain = (...texts) => texts.map((text, index) => nodeOf(text, { parent: index - 1 }));
function bornIn(list, header, more) {
  const iteration = iterationOf({ target: { start: 0, end: 10, rows: 1 }, sync: 11, ...more });
  return timesOf(iteration, list, header).map(({ born }) => born);
}

// Two sequences: A of four tokens and B of two.
const DRAFTED = [
  nodeOf("a0"), nodeOf("a1", { parent: 0 }), nodeOf("a2", { parent: 1 }), nodeOf("a3", { parent: 2 }),
  nodeOf("b0"), nodeOf("b1", { parent: 4 }),
];

test("each step goes on with all sequences that have not ended", () => {
  const draft = stepsOf(1, 1, 2, 1);
  assert.deepEqual(bornIn("drafted", PARALLEL, { draft, drafted: DRAFTED }), [1, 2, 3, 4, 2, 3]);
});

test("in the paper's order, with one after another", () => {
  const draft = stepsOf(1, 2, 1, 1, 1);
  assert.deepEqual(bornIn("drafted", PARALLEL, { draft, drafted: DRAFTED }), [1, 2, 3, 4, 2, 5]);
});

test("what no step is told of stands there with the target's result", () => {
  assert.deepEqual(bornIn("drafted", PARALLEL, { draft: stepsOf(1, 1, 1), drafted: DRAFTED }), [1, 2, 3, 10, 2, 10]);
  assert.deepEqual(bornIn("drafted", PARALLEL, { draft: stepsOf(1), drafted: DRAFTED.slice(0, 2) }), [1, 10]);
});

test("drafted tokens are judged with the iteration's end, and the target's own is there then", () => {
  const iteration = iterationOf({ draft: stepsOf(1), drafted: [nodeOf("a"), ownNode("own")], sync: 11 });
  assert.deepEqual(timesOf(iteration, "drafted", PARALLEL), [{ born: 1, judged: 11 }, { born: 11, judged: 11 }]);
});

test("what is checked in parallel was there before", () => {
  const checked = [nodeOf("a"), ownNode("own")];
  const iteration = iterationOf({ checked, target: { start: 0, end: 10, rows: 2 }, sync: 11 });
  const times = timesOf(iteration, "checked", PARALLEL);
  assert.deepEqual(times, [{ born: -Infinity, judged: 10 }, { born: 10, judged: 10 }]);
});

test("a living tree tells itself what was there, and which step made what", () => {
  const checked = [nodeOf("a", { was: 3 }), nodeOf("b", { step: 1 }), nodeOf("c", { step: 7 })];
  assert.deepEqual(bornIn("checked", TURNS, { draft: stepsOf(1, 1), checked }), [-Infinity, 2, 10]);
});

test("a step each for a chain of guesses", () => {
  assert.deepEqual(bornIn("checked", TURNS, { draft: stepsOf(1, 1, 1), checked: chain("a", "b", "c") }), [1, 2, 3]);
});

test("of more guesses than steps, the rest stands there when drafting has ended", () => {
  const four = chain("a", "b", "c", "d");
  assert.deepEqual(bornIn("checked", TURNS, { draft: stepsOf(1, 1, 1), checked: four }), [1, 3, 3, 3]);
  assert.deepEqual(bornIn("checked", TURNS, { draft: stepsOf(1, 1), checked: chain("a", "b", "c") }), [1, 2, 2]);
});

test("what is found elsewhere stands there at once", () => {
  const checked = [nodeOf("a", { source: "prompt" })];
  assert.deepEqual(bornIn("checked", TURNS, { target: { start: 3, end: 4, rows: 2 }, checked }), [3]);
  assert.deepEqual(bornIn("checked", TURNS, { draft: [{ start: 2, end: 3, tokens: 1 }], checked }), [2]);
  assert.deepEqual(timesOf(iterationOf(), "rest", TURNS), [], "an iteration may not have a list");
});

test("what was not checked hangs on what was", () => {
  const [checked, rest] = [chain("a", "b"), [nodeOf("c", { parent: 1 }), nodeOf("d", { parent: 2 })]];
  assert.deepEqual(bornIn("rest", TURNS, { draft: stepsOf(1, 1, 1, 1), checked, rest }), [3, 4]);
  assert.deepEqual(bornIn("rest", TURNS, { draft: stepsOf(1, 1, 1), checked, rest }), [3, 3]);
});

test("what a node looks like", () => {
  const times = { born: 1, judged: 3 };
  const looks = [0.9, 1, 2.9, 3].map((clock) => lookAt(times, "rejected", clock));
  assert.deepEqual(looks, ["unborn", "pending", "pending", "rejected"]);
  assert.deepEqual([0.9, 1].map((clock) => lookAt(times, "window", clock)), ["unborn", "window"]);
});

test("what is known of the first tokens", () => {
  const draft = stepsOf(1, 1, 1);
  assert.deepEqual([0.9, 1, 1.9, 2].map((clock) => candidatesKnown({ draft }, clock)), [0, 1, 1, 2]);
  assert.deepEqual([0.9, 1].map((clock) => candidatesKnown({ draft: stepsOf(1) }, clock)), [0, 2],
    "a second step will not come");
  assert.equal(candidatesKnown({ draft: [] }, 0), 2);
});

test("in the recordings nothing is judged before it was made", () => {
  for (const { header, iterations } of recordings()) {
    for (const iteration of iterations) {
      const times = ["checked", "rest", "drafted"].flatMap((list) => timesOf(iteration, list, header));
      assert.ok(times.every(({ born, judged }) => born <= judged && judged <= iteration.sync),
        `${header.method}, iteration ${iteration.index}`);
    }
  }
});
