// Tests of inside.js: a side's run as a feed that tells all at once.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf } from "../testing.js";
import { feedOf } from "./inside.js";

test("all of the run, to whoever asks", () => {
  const run = { header: headerOf(), iterations: [iterationOf()], end: { stopped: "eos" }, metrics: { tps: 1 } };
  const told = [];
  const stop = feedOf(run).subscribe((event) => told.push(event));
  assert.deepEqual(told.map(({ type }) => type), ["reset", "header", "iteration", "end"]);
  assert.deepEqual(told.at(-1), { type: "end", end: run.end, metrics: run.metrics });
  assert.equal(stop(), undefined);
});
