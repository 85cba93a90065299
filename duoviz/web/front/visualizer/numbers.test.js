// Tests of numbers.js: which figures of a run and of an iteration are shown, and what φ compares a run with.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, stateOf } from "../testing.js";
import { isTold, iterationNumbers, keepSpeed, runNumbers, speedUp } from "./numbers.js";
import { applyEvent, emptyState } from "./state.js";

const TWO = [
  iterationOf({ sync: 1, committed: ["A"] }),
  iterationOf({ index: 1, sync: 1.5, committed: ["b", "c"], sequences: 2, budget: 3, longest: 4, theta: 0.25 }),
];

test("the iteration shown", () => {
  const numbersAt = (shown) => iterationNumbers(Object.assign(endedState(TWO), { shown }));
  assert.deepEqual(numbersAt(1), { written: 2, took: 0.5, k: 2, gamma: 3, longest: 4, theta: 0.25 });
  assert.deepEqual(iterationNumbers(emptyState()), {});
});

test("a run that goes on, also what is not shown yet; one that has ended, as it was measured", () => {
  const begun = stateOf(TWO.slice(0, 1));
  assert.deepEqual(runNumbers(begun), { tps: null, tau: null, acceptance: null, overlap: null, ttft: 1, phi: null });
  const state = Object.assign(stateOf(TWO), { shown: 0, follow: false });
  assert.deepEqual(runNumbers(state), { tps: 2, tau: 1.5, acceptance: null, overlap: null, ttft: 1, phi: null });
  applyEvent(state, { type: "end", end: { stopped: "length" }, metrics: { tps: 1.9, tau: 1.5 } });
  assert.deepEqual(runNumbers(state), { tps: 1.9, tau: 1.5, phi: null });
  assert.deepEqual(runNumbers(emptyState()), { phi: null });
});

test("which figures stand there", () => {
  const header = headerOf({ about: { numbers: ["gamma"] } });
  const shown = ["tps", "took", "gamma", "theta"].filter((name) => isTold(name, { phi: null }, header));
  assert.deepEqual(shown, ["tps", "took", "gamma"]);
  assert.equal(isTold("theta", { phi: null }, null), true, "before a run");
  assert.deepEqual([null, 0.9].map((phi) => isTold("phi", { phi }, header)), [false, true]);
});

// Each test has a prompt of its own, for what is kept is kept for the whole visit.
const headers = (prompt, settings) => {
  const header = headerOf({ prompt, settings });
  return { vanilla: { ...header, method: "vanilla" }, other: { ...header, about: { ...header.about, title: "SpS" } } };
};
const keep = (header, tps, more = {}) => (
  keepSpeed({ header, end: { stopped: "length" }, metrics: { new_tokens: 16, tps }, ...more }));
test("a recording is compared with the vanilla that was recorded with it", () => {
  const state = { ...endedState([iterationOf()], headerOf()), recorded: true, file: "recording", vanilla: 50 };
  assert.equal(speedUp(state, { tps: 75 }), 1.5);
  assert.equal(speedUp({ ...state, vanilla: null }, { tps: 75 }), null);
  assert.equal(speedUp({ ...state, recorded: false }, { tps: 75 }), null);
});

const phiOf = (header, tps = 75) => speedUp(endedState([iterationOf()], header), { tps });

test("a run is compared with the last vanilla run of the visit on the same prompt and settings", () => {
  const { vanilla, other } = headers("one", { seed: 1 });
  assert.equal(phiOf(other), null);
  assert.equal(keep(other, 75), "");
  assert.equal(keep(vanilla, 50), "SpS was 1.50 times as fast as the large model alone on CPU core 1.");
  assert.equal(phiOf(other), 1.5);
  keep(vanilla, 60);
  assert.equal(phiOf(other), 1.25);
  // Another seed is another question, the method's own settings are not.
  assert.equal(phiOf(headers("one", { seed: 2 }).other), null);
  assert.equal(phiOf(headers("one", { seed: 1, sequences: 4, cores: "all" }).other), 1.25);
  assert.equal(phiOf({ ...other, pair: "qwen" }), null);
  assert.deepEqual([phiOf(vanilla), phiOf(other, null)], [null, null]);
  // A file's run is another machine's, and one that goes on has no speed yet.
  const states = [{ ...endedState([iterationOf()], other), file: "a recording" }, stateOf([iterationOf()], other)];
  states.push({ ...endedState([iterationOf()], other), end: { stopped: "length", message: "This machine was busy." } });
  assert.deepEqual(states.map((state) => speedUp(state, { tps: 75 })), [null, null, null]);
  // Neither short runs, nor those that were cut, nor on other cores are compared with.
  keep(vanilla, 99, { metrics: { new_tokens: 15, tps: 99 } });
  for (const stopped of ["stopped", "time", "error", "context"]) keep(vanilla, 99, { end: { stopped } });
  keep(headers("one", { seed: 1, cores: "target" }).vanilla, 99);
  // Nor those of a busy machine.
  const busy = (header) => keep(header, 99, { end: { stopped: "length", message: "This machine was busy." } });
  assert.deepEqual([busy(vanilla), busy(other)], ["So it is not compared.", "Generate again to compare it with the large model alone."]);
  assert.equal(phiOf(other), 1.25);
});

test("no figure is of times that are not known", () => {
  const numbers = { tps: 2, ttft: 1, took: 1, overlap: 0.5, phi: 1.5, tau: 2, written: 2 };
  const told = (header) => Object.keys(numbers).filter((name) => isTold(name, numbers, header));
  const header = headerOf({ can_overlap: true, about: { numbers: ["overlap"] } });
  assert.deepEqual(told(header), Object.keys(numbers));
  assert.deepEqual(told({ ...header, clock: "iterations" }), ["tau", "written"]);
});
