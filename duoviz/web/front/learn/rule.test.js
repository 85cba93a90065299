// Tests of rule.js: the classical rule writes what the target would, whatever the draft is.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { uniform } from "./chance.js";
import { drawByRule, story } from "./rule.js";

const MANY = 20_000;
const OUTCOMES = [{ text: "a", p: 0.6, q: 0.2 }, { text: "b", p: 0.3, q: 0.3 }, { text: null, p: 0.1, q: 0.5 }];

// Uniform numbers as given, one after another.
const given = (...numbers) => () => numbers.shift();

test("one token by the rule", () => {
  assert.deepEqual(drawByRule(OUTCOMES, given(0.1, 0.99)), { drafted: 0, chance: 1, accepted: true, written: 0 });
  assert.deepEqual(drawByRule(OUTCOMES, given(0.9, 0.19)), { drafted: 2, chance: 0.2, accepted: true, written: 2 });
  // The target lacks "a" alone.
  const rejected = drawByRule(OUTCOMES, given(0.9, 0.2, 0.99));
  assert.deepEqual(rejected, { drafted: 2, chance: 0.2, accepted: false, written: 0 });
});

test("the text is the target's, and as much is accepted as both have in common", () => {
  const next = uniform(1);
  const [counts, accepted] = [[0, 0, 0], { number: 0 }];
  for (let time = 0; time < MANY; time++) {
    const drawn = drawByRule(OUTCOMES, next);
    counts[drawn.written] += 1;
    accepted.number += drawn.accepted;
  }
  counts.forEach((number, index) => near(number / MANY, OUTCOMES[index].p, 0.015));
  near(accepted.number / MANY, 0.2 + 0.3 + 0.1, 0.015);
});

test("a draft that is as good as the target is always accepted", () => {
  const next = uniform(2);
  const same = OUTCOMES.map(({ text, p }) => ({ text, p, q: p }));
  for (let time = 0; time < 1000; time++) assert.equal(drawByRule(same, next).accepted, true);
});

test("a draw in words", () => {
  assert.equal(story(OUTCOMES, drawByRule(OUTCOMES, given(0.9, 0.19))),
    "The draft draws other. It may stay with probability 0.20. It stays: ✓ other.");
  assert.equal(story(OUTCOMES, drawByRule(OUTCOMES, given(0.9, 0.5, 0.5))),
    "The draft draws other. It may stay with probability 0.20. "
    + "It is rejected ✗. ➜ a is drawn instead.");
});
