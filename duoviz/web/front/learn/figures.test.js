// Tests of the lessons' figures: what they compute and say.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { waiting } from "./budget.js";
import { uniform } from "./chance.js";
import { timeAt } from "./costs.js";
import { coupledDraws, mixed, skillWords } from "./coupled.js";
import { outcomeName } from "./outcomes.js";
import { drawByRule, story } from "./rule.js";
import { whyOf } from "./speeds.js";
import { overWords, sequencesOver } from "./threshold.js";

test("the faster side waits for the other", () => {
  assert.equal(waiting(0.02, 0.015), "The draft waits 5.0 ms for the target.");
  assert.equal(waiting(0.02, 0.03), "The target waits 10.0 ms for the draft.");
  assert.equal(waiting(0.02, 0.02), "Both are ready at the same time.");
  // Three steps of 0.1 are a little more than 0.3.
  assert.equal(waiting(0.3, 3 * 0.1), "Both are ready at the same time.", "what is too short to be written is no waiting");
});

test("the measured times of a forward, and straight lines between them", () => {
  const times = [[1, 0.01], [2, 0.012], [8, 0.03], [5, 0.021], [3, 0.015], [1.5, 0.011]];
  for (const [tokens, seconds] of times) near(timeAt(times.slice(0, 3), tokens), seconds);
});

test("an outcome by its token's label, and all that are not named together", () => {
  const names = [" rain", "", "<|im_end|>", null].map((text) => outcomeName({ text }));
  assert.deepEqual(names, ["␣rain", "∅", "end of answer", "other"]);
});

test("why a run was as fast as it was: tokens a forward, the time of one, its rows and its device", () => {
  assert.equal(whyOf({ tau: 2.286, iteration: 0.0234, rows: 5.04, device: "CPU cores 0, 1" }),
    "τ 2.29 · 23.4 ms per iteration · 5.0 tokens read · CPU cores 0, 1");
  assert.equal(whyOf({ tau: 1, iteration: null, rows: 1, device: "CPU" }),
    "τ 1.00 · – per iteration · 1.0 tokens read · CPU");
});

const CANDIDATES = [0.5, 0.3, 0.1].map((p) => ({ p }));

test("a sequence for each first token over the threshold: one at least, and no more than the draft budget", () => {
  assert.deepEqual([0.05, 0.2, 0.4, 0.9].map((theta) => sequencesOver(CANDIDATES, theta, 8)), [3, 2, 1, 1]);
  assert.equal(sequencesOver(CANDIDATES, 0.3, 8), 1, "a token at the threshold is not over it");
  assert.deepEqual([1, 2, 3].map((budget) => sequencesOver(CANDIDATES, 0.05, budget)), [1, 2, 3]);
});

test("what is said of a threshold", () => {
  const said = [
    [0.9, 8, "No first token is over the threshold, so only the best one begins a sequence: k = 1."],
    [0.4, 8, "1 first token over the threshold: k = 1."],
    [0.2, 8, "2 first tokens over the threshold: k = 2."],
    [0.2, 1, "2 first tokens over the threshold: k = 1, the maximum."],
    [0.05, 8, "All 3 first tokens listed are over the threshold: k = 3, the maximum."],
  ];
  for (const [theta, budget, words] of said) assert.equal(overWords(CANDIDATES, theta, budget), words);
});

// Of three tokens, the target's probabilities and the draft's.
const MANY = 20_000;
const [P, Q] = [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]];
const OUTCOMES = ["a", "b", null].map((text, index) => ({ text, p: P[index], q: Q[index] }));
const shareOf = (draws, isSo) => draws.filter(isSo).length / draws.length;

test("the same seed gives the same draws, and more of them begin alike", () => {
  assert.deepEqual(coupledDraws(P, Q, 8, 1), coupledDraws(P, Q, 1000, 1).slice(0, 8));
  assert.notDeepEqual(coupledDraws(P, Q, 8, 1), coupledDraws(P, Q, 8, 2));
});

test("both draw as their own probabilities say", () => {
  const draws = coupledDraws(P, Q, MANY, 3);
  P.forEach((p, index) => near(shareOf(draws, ({ target }) => target === index), p, 0.015));
  Q.forEach((q, index) => near(shareOf(draws, ({ draft }) => draft === index), q, 0.015));
});

test("whatever the draft is, the target's draws are the same", () => {
  const targets = (q) => coupledDraws(P, q, 100, 4).map(({ target }) => target);
  assert.deepEqual(targets(Q), targets(P));
});

test("both agree as often as the same noise makes them, and always where the draft is as good", () => {
  const agreed = (skill) => (
    shareOf(coupledDraws(P, mixed(OUTCOMES, skill), MANY, 5), ({ target, draft }) => target === draft));
  // For each outcome i, one over the sum over all j of the larger of pⱼ/pᵢ and qⱼ/qᵢ.
  near(agreed(0), 1 / (1 + 1 + 1) + 1 / (2 + 1 + 1) + 1 / (6 + 3 + 1), 0.015);
  near(agreed(1), 1 / (1 + 1.5 + 2.5) + 1 / (2 + 1 + 5 / 3) + 1 / (6 + 3 + 1), 0.015);
  assert.equal(agreed(2), 1);
});

test("a draft between one that knows nothing, the real one, and the target", () => {
  const drafts = [
    [0, [1 / 3, 1 / 3, 1 / 3]], [0.5, [(1 / 3 + 0.2) / 2, (1 / 3 + 0.3) / 2, (1 / 3 + 0.5) / 2]], [1, Q],
    [1.5, [0.4, 0.3, 0.3]], [2, P],
  ];
  for (const [skill, shares] of drafts) mixed(OUTCOMES, skill).forEach((share, index) => near(share, shares[index]));
});

test("how good a draft is, in words", () => {
  assert.deepEqual([0, 0.5, 1, 1.5, 2].map(skillWords), [
    "knows nothing", "worse than the real one", "the real one", "better than the real one", "as good as the target",
  ]);
});

// Uniform numbers as given, one after another.
const given = (...numbers) => () => numbers.shift();

test("one token by the classical rule", () => {
  const drawn = (...numbers) => drawByRule(OUTCOMES, given(...numbers));
  assert.deepEqual(drawn(0.1, 0.99), { drafted: 0, chance: 1, accepted: true, written: 0 });
  assert.deepEqual(drawn(0.9, 0.19), { drafted: 2, chance: 0.2, accepted: true, written: 2 });
  // The target lacks "a" alone.
  assert.deepEqual(drawn(0.9, 0.2, 0.99), { drafted: 2, chance: 0.2, accepted: false, written: 0 });
});

test("the text is the target's, and as much is accepted as both have in common", () => {
  const next = uniform(1);
  const draws = Array.from({ length: MANY }, () => drawByRule(OUTCOMES, next));
  P.forEach((p, index) => near(shareOf(draws, ({ written }) => written === index), p, 0.015));
  near(shareOf(draws, ({ accepted }) => accepted), 0.2 + 0.3 + 0.1, 0.015);
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
    "The draft draws other. It may stay with probability 0.20. It is rejected ✗. ➜ a is drawn instead.");
});
