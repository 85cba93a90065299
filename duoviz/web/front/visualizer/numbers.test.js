// Tests of numbers.js: which figures of a run and of an iteration are shown, and what they are.

import assert from "node:assert/strict";
import test from "node:test";
import { keepSpeed } from "./baseline.js";
import { applyEvent, emptyState } from "./state.js";
import { endedState, headerOf, iterationOf, stateOf } from "../testing.js";
import { isTold, iterationNumbers, runNumbers } from "./numbers.js";

const TWO = [
  iterationOf({ sync: 1, committed: ["A"] }),
  iterationOf({ index: 1, sync: 1.5, committed: ["b", "c"], sequences: 2, budget: 3, longest: 4, theta: 0.25 }),
];

test("the iteration shown", () => {
  const state = Object.assign(endedState(TWO), { shown: 1 });
  assert.deepEqual(iterationNumbers(state), { written: 2, took: 0.5, k: 2, gamma: 3, longest: 4, theta: 0.25 });
  state.shown = 0;
  assert.deepEqual(iterationNumbers(state), { written: 1, took: 1, k: null, gamma: null, longest: null, theta: null });
  assert.deepEqual(iterationNumbers(emptyState()), {});
});

test("a run that goes on, as far as it has come, whatever is shown", () => {
  const state = Object.assign(stateOf(TWO), { shown: 0, follow: false });
  assert.deepEqual(runNumbers(state), { tps: 2, tau: 1.5, acceptance: null, overlap: null, ttft: 1, phi: null });
  assert.deepEqual(runNumbers(emptyState()), { phi: null });
});

test("a run that has ended, as it was measured", () => {
  const state = stateOf(TWO);
  applyEvent(state, { type: "end", end: { stopped: "length" }, metrics: { tps: 1.9, tau: 1.5 } });
  assert.deepEqual(runNumbers(state), { tps: 1.9, tau: 1.5, phi: null });
});

test("φ over vanilla's run in this visit", () => {
  const header = headerOf({ prompt: "What is φ?" });
  const [end, metrics] = [{ stopped: "eos" }, { new_tokens: 20, tps: 0.5 }];
  keepSpeed({ header: { ...header, method: "vanilla" }, end, metrics });
  assert.equal(runNumbers(endedState(TWO, header)).phi, 4);
  assert.equal(runNumbers(stateOf(TWO, header)).phi, null, "while the run goes on");
});

test("which figures stand there", () => {
  const header = headerOf({ about: { numbers: ["gamma"] } });
  const numbers = { phi: null };
  const shown = ["tps", "took", "gamma", "theta"].filter((name) => isTold(name, numbers, header));
  assert.deepEqual(shown, ["tps", "took", "gamma"]);
  assert.equal(isTold("theta", numbers, null), true, "before a run");
  assert.deepEqual([null, 0.9].map((phi) => isTold("phi", { phi }, header)), [false, true]);
});
