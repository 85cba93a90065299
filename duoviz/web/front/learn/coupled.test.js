// Tests of coupled.js: the target's own draw decides, and the draft meets the same noise.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { coupledDraws, mixed, skillWords } from "./coupled.js";

const MANY = 20_000;
const [P, Q] = [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]];
const OUTCOMES = P.map((p, index) => ({ p, q: Q[index] }));
const sharesOf = (draws, side) => (
  P.map((_, index) => draws.filter((draw) => draw[side] === index).length / draws.length)
);

test("the same seed gives the same draws, and more of them begin alike", () => {
  assert.deepEqual(coupledDraws(P, Q, 8, 1), coupledDraws(P, Q, 1000, 1).slice(0, 8));
  assert.notDeepEqual(coupledDraws(P, Q, 8, 1), coupledDraws(P, Q, 8, 2));
});

test("both draw as their own probabilities say", () => {
  const draws = coupledDraws(P, Q, MANY, 3);
  sharesOf(draws, "target").forEach((share, index) => near(share, P[index], 0.015));
  sharesOf(draws, "draft").forEach((share, index) => near(share, Q[index], 0.015));
});

test("whatever the draft is, the target's draws are the same", () => {
  const targets = (q) => coupledDraws(P, q, 100, 4).map(({ target }) => target);
  assert.deepEqual(targets(Q), targets(P));
});

test("both agree as often as the same noise makes them, and always where the draft is as good", () => {
  const draws = (skill) => coupledDraws(P, mixed(OUTCOMES, skill), MANY, 5);
  const agreed = (skill) => draws(skill).filter(({ target, draft }) => target === draft).length / MANY;
  // For each outcome i, one over the sum over all j of the larger of pⱼ/pᵢ and qⱼ/qᵢ.
  near(agreed(0), 1 / (1 + 1 + 1) + 1 / (2 + 1 + 1) + 1 / (6 + 3 + 1), 0.015);
  near(agreed(1), 1 / (1 + 1.5 + 2.5) + 1 / (2 + 1 + 5 / 3) + 1 / (6 + 3 + 1), 0.015);
  assert.equal(agreed(2), 1);
});

test("a draft between one that knows nothing, the real one, and the target", () => {
  const assertMixed = (skill, expected) => (
    mixed(OUTCOMES, skill).forEach((share, index) => near(share, expected[index]))
  );
  assertMixed(0, [1 / 3, 1 / 3, 1 / 3]);
  assertMixed(0.5, [(1 / 3 + 0.2) / 2, (1 / 3 + 0.3) / 2, (1 / 3 + 0.5) / 2]);
  assertMixed(1, Q);
  assertMixed(1.5, [0.4, 0.3, 0.3]);
  assertMixed(2, P);
});

test("how good it is, in words", () => {
  assert.deepEqual([0, 0.5, 1, 1.5, 2].map(skillWords), [
    "knows nothing", "worse than the real one", "the real one", "better than the real one", "as good as the target",
  ]);
});
