// Tests of the lessons' figures: what they compute and say.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { timeAt } from "./costs.js";
import { coupledDraws, drawByRule, drawIndex, mixed, story, uniform } from "./draws.js";
import { overWords, sequencesOver, waiting } from "./figures.js";

test("the faster side waits for the other", () => {
  assert.equal(waiting(0.02, 0.015), "The draft waits 5.0\u00a0ms for the target.");
  assert.equal(waiting(0.02, 0.03), "The target waits 10.0\u00a0ms for the draft.");
  // As a reader finds who subtracts what is shown, 10.8 and 0.4 ms.
  assert.equal(waiting(0.01084, 0.00039), "The draft waits 10.4\u00a0ms for the target.");
  // Three steps of 0.1 are a little more than 0.3: what is too short to be written is no waiting.
  assert.equal(waiting(0.3, 3 * 0.1), "Both are ready at the same time.");
});

test("the measured times of a forward, and straight lines between them", () => {
  const times = [[1, 0.01], [2, 0.012], [8, 0.03], [5, 0.021], [3, 0.015], [1.5, 0.011]];
  for (const [tokens, seconds] of times) near(timeAt(times.slice(0, 3), tokens), seconds);
});

test("a sequence for each first token over the threshold: one at least, and no more than the draft budget", () => {
  const candidates = [0.5, 0.3, 0.1].map((p) => ({ p }));
  const said = [
    [0.9, 8, 1, "No first token is over the threshold, so only the best one begins a sequence: k = 1."],
    [0.3, 8, 1, "1 first token over the threshold: k = 1."],
    [0.2, 8, 2, "2 first tokens over the threshold: k = 2."],
    [0.2, 1, 1, "2 first tokens over the threshold: k = 1, the maximum."],
    [0.05, 8, 3, "All 3 first tokens listed are over the threshold: k = 3, the maximum."],
  ];
  for (const [theta, budget, sequences, words] of said) {
    assert.equal(sequencesOver(candidates, theta, budget), sequences);
    assert.equal(overWords(candidates, theta, budget), words);
  }
});

// Of three tokens, the target's probabilities and the draft's.
const MANY = 20_000;
const [P, Q] = [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]];
const OUTCOMES = ["a", "b", "c"].map((text, index) => ({ text, p: P[index], q: Q[index] }));
const shareOf = (draws, isSo) => draws.filter(isSo).length / draws.length;

test("an outcome is drawn in proportion to its weight, and never without one, wherever rounding leaves a rest", () => {
  const indices = [0.1, 0.2499, 0.25, 0.7499, 0.75, 0.999].map((number) => drawIndex([1, 2, 1], () => number));
  assert.deepEqual(indices, [0, 0, 1, 1, 2, 2]);
  assert.deepEqual([1e-12, 0.999].map((number) => drawIndex([0, 1, 0], () => number)), [1, 1]);
  assert.equal(drawIndex([1, 1, 0], () => 1), 1);
});

test("coupled draws: each side as its own probabilities say, the target's whatever the draft is", () => {
  const draws = coupledDraws(P, Q, MANY, 3);
  P.forEach((p, index) => near(shareOf(draws, ({ target }) => target === index), p, 0.015));
  Q.forEach((q, index) => near(shareOf(draws, ({ draft }) => draft === index), q, 0.015));
  const targets = (q) => coupledDraws(P, q, 100, 4).map(({ target }) => target);
  assert.deepEqual(targets(Q), targets(P));
  assert.deepEqual(coupledDraws(P, Q, 8, 3), draws.slice(0, 8), "more of them begin alike");
});

test("a better draft agrees oftener: one that knows nothing, the real one, and one as good as the target", () => {
  const agreed = (skill) => (
    shareOf(coupledDraws(P, mixed(OUTCOMES, skill), MANY, 5), ({ target, draft }) => target === draft));
  // For each outcome i, one over the sum over all j of the larger of pⱼ/pᵢ and qⱼ/qᵢ.
  near(agreed(0), 1 / (1 + 1 + 1) + 1 / (2 + 1 + 1) + 1 / (6 + 3 + 1), 0.015);
  near(agreed(1), 1 / (1 + 1.5 + 2.5) + 1 / (2 + 1 + 5 / 3) + 1 / (6 + 3 + 1), 0.015);
  assert.equal(agreed(2), 1);
  mixed(OUTCOMES, 1.5).forEach((share, index) => near(share, [0.4, 0.3, 0.3][index]));
});

test("one token by the classical rule, and in words", () => {
  // Uniform numbers as given, one after another.
  const drawn = (...numbers) => drawByRule(OUTCOMES, () => numbers.shift());
  assert.deepEqual(drawn(0.1, 0.99), { drafted: 0, chance: 1, accepted: true, written: 0 });
  assert.deepEqual(drawn(0.9, 0.19), { drafted: 2, chance: 0.2, accepted: true, written: 2 });
  // The target lacks "a" alone.
  assert.deepEqual(drawn(0.9, 0.2, 0.99), { drafted: 2, chance: 0.2, accepted: false, written: 0 });
  const said = "The draft draws c. It may stay with probability 0.20.";
  assert.equal(story(OUTCOMES, drawn(0.9, 0.19)), `${said} It stays: c ✓.`);
  assert.equal(story(OUTCOMES, drawn(0.9, 0.5, 0.5)), `${said} It is rejected ✗. a ➜ is drawn instead.`);
});

test("by the classical rule the text is the target's, and as much is accepted as both have in common", () => {
  const next = uniform(1);
  const draws = Array.from({ length: MANY }, () => drawByRule(OUTCOMES, next));
  P.forEach((p, index) => near(shareOf(draws, ({ written }) => written === index), p, 0.015));
  near(shareOf(draws, ({ accepted }) => accepted), 0.2 + 0.3 + 0.1, 0.015);
});
