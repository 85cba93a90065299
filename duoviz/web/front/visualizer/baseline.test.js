// Tests of baseline.js: what φ compares a run with, and when there is a φ.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, stateOf } from "../testing.js";
import { isComparable, keepSpeed, speedUp } from "./baseline.js";

// Each test has a prompt of its own, for what is kept is kept for the whole visit.
const headers = (prompt, settings) => {
  const header = headerOf({ prompt, settings });
  return { vanilla: { ...header, method: "vanilla" }, other: { ...header, about: { ...header.about, title: "SpS" } } };
};
const ended = (header, tps, more = {}) => ({
  header, end: { stopped: "length" }, metrics: { new_tokens: 16, tps }, ...more,
});
const runOf = (header) => endedState([iterationOf()], header);
const phiOf = (header, tps = 75) => speedUp(runOf(header), { tps });

test("a run is compared with vanilla on the same prompt and settings", () => {
  const { vanilla, other } = headers("one");
  assert.equal(phiOf(other), null);
  assert.equal(keepSpeed(ended(vanilla, 50)), "");
  assert.equal(phiOf(other), 1.5);
  assert.equal(keepSpeed(ended(vanilla, 60)), "", "the last vanilla run counts");
  assert.equal(phiOf(other), 1.25);
});

test("a run of another method is kept wherever it ran", () => {
  keepSpeed(ended(headers("six", { cores: "all" }).other, 75));
  assert.match(keepSpeed(ended(headers("six").vanilla, 50)), /1\.50 times as fast/);
});

test("after vanilla it is said how the run before it was", () => {
  const { vanilla, other } = headers("two");
  assert.equal(keepSpeed(ended(other, 75)), "");
  assert.equal(keepSpeed(ended(vanilla, 50)), "SpS, on the same prompt, was 1.50 times as fast.");
});

test("another seed is another question, the method's own settings are not", () => {
  const { vanilla } = headers("three", { seed: 1 });
  keepSpeed(ended(vanilla, 50));
  assert.equal(phiOf(headers("three", { seed: 2 }).other), null);
  assert.equal(phiOf(headers("three", { seed: 1, sequences: 4, cores: "all" }).other), 1.5);
  assert.equal(phiOf({ ...headers("three", { seed: 1 }).other, pair: "qwen" }), null);
});

test("runs that say little of the speed are not kept", () => {
  const { vanilla, other } = headers("four");
  keepSpeed(ended(vanilla, 50, { metrics: { new_tokens: 15, tps: 50 } }));
  keepSpeed(ended(vanilla, 50, { metrics: null }));
  for (const stopped of ["stopped", "time", "error", "context"]) keepSpeed(ended(vanilla, 50, { end: { stopped } }));
  keepSpeed(ended(vanilla, 50, { end: null }));
  assert.equal(keepSpeed(ended(null, 50)), "");
  keepSpeed(ended({ ...vanilla, settings: { ...vanilla.settings, cores: "target" } }, 50));
  assert.equal(phiOf(other), null);
});

test("what φ is given for", () => {
  const { vanilla, other } = headers("five");
  keepSpeed(ended(vanilla, 50));
  assert.equal(isComparable(runOf(other)), true);
  assert.equal(isComparable(runOf(vanilla)), false);
  assert.equal(isComparable({ ...runOf(other), file: "a recording" }), false);
  assert.equal(isComparable(stateOf([iterationOf()], other)), false, "it goes on");
  assert.equal(isComparable({ ...runOf(other), header: null }), false);
  assert.equal(phiOf(vanilla), null);
  assert.equal(phiOf(other, null), null);
});
