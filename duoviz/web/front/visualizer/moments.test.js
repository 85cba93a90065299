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
const timesIn = (list, header, more) => (
  timesOf(iterationOf({ target: { start: 0, end: 10, rows: 1 }, sync: 11, ...more }), list, header));
const bornIn = (...about) => timesIn(...about).map(({ born }) => born);

test("drafted tokens come with their steps, and with the target's result where the trace has no step", () => {
  // Two sequences: A of four tokens and B of two.
  const drafted = [...chain("a0", "a1", "a2", "a3"), nodeOf("b0"), nodeOf("b1", { parent: 4 })];
  const born = (...tokens) => bornIn("drafted", PARALLEL, { draft: stepsOf(...tokens), drafted });
  assert.deepEqual(born(1, 1, 2, 1), [1, 2, 3, 4, 2, 3], "each step goes on with all that have not ended");
  assert.deepEqual(born(1, 2, 1, 1, 1), [1, 2, 3, 4, 2, 5], "in the paper's order, with one after another");
  assert.deepEqual(born(1, 1, 1), [1, 2, 3, 10, 2, 10]);
  assert.deepEqual(born(1).slice(0, 2), [1, 10]);
});

test("what is judged when: the drafted with the iteration's end, the checked with the target's", () => {
  const drafted = [nodeOf("a"), ownNode("own")];
  assert.deepEqual(timesIn("drafted", PARALLEL, { draft: stepsOf(1), drafted }),
    [{ born: 1, judged: 11 }, { born: 11, judged: 11 }]);
  // In parallel it was there before.
  assert.deepEqual(timesIn("checked", PARALLEL, { checked: drafted }),
    [{ born: -Infinity, judged: 10 }, { born: 10, judged: 10 }]);
});

test("in turn: a step each for a chain of guesses, while there are steps", () => {
  const born = (steps, ...texts) => (
    bornIn("checked", TURNS, { draft: stepsOf(...Array(steps).fill(1)), checked: chain(...texts) }));
  assert.deepEqual(born(3, "a", "b", "c"), [1, 2, 3]);
  assert.deepEqual(born(2, "a", "b", "c"), [1, 2, 2]);
  // What is found elsewhere stands there at once.
  const checked = [nodeOf("a", { source: "prompt" })];
  assert.deepEqual(bornIn("checked", TURNS, { target: { start: 3, end: 4, rows: 2 }, checked }), [3]);
  assert.deepEqual(bornIn("checked", TURNS, { draft: [{ start: 2, end: 3, tokens: 1 }], checked }), [2]);
});

test("a tree that lives on records what was there and which step made what", () => {
  const checked = [nodeOf("a", { was: 3 }), nodeOf("b", { step: 1 }), nodeOf("c", { step: 7 })];
  assert.deepEqual(bornIn("checked", TURNS, { draft: stepsOf(1, 1), checked }), [-Infinity, 2, 10]);
  assert.deepEqual(timesOf(iterationOf(), "rest", TURNS), [], "an iteration may not have a list");
});

test("what a node looks like, and what is known of the first tokens", () => {
  const times = { born: 1, judged: 3 };
  const looks = [0.9, 1, 2.9, 3].map((clock) => lookAt(times, "rejected", clock));
  assert.deepEqual(looks, ["unborn", "pending", "pending", "rejected"]);
  assert.equal(lookAt(times, "window", 1), "window");
  const told = (steps, ...clocks) => clocks.map((clock) => candidatesKnown({ draft: stepsOf(...steps) }, clock));
  assert.deepEqual(told([1, 1, 1], 0.9, 1, 1.9, 2), [0, 1, 1, 2]);
  assert.deepEqual([...told([1], 0.9, 1), ...told([], 0)], [0, 2, 2], "a second step will not come");
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
