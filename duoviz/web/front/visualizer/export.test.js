// Tests of export.js: what is saved of a run.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, recordings } from "../testing.js";
import { chromeTrace, fileName, replayPage, traceOf } from "./export.js";

test("a trace is what was recorded, and nothing of the page", () => {
  const state = endedState([iterationOf()], headerOf());
  assert.deepEqual(traceOf(state), { header: headerOf(), iterations: [iterationOf()], end: { stopped: "length" } });
  for (const trace of recordings()) assert.deepEqual(traceOf(trace), trace);
});

test("a file's name has the method and the time", () => {
  assert.equal(fileName({ method: "duotree", date: "2026-11-24T23:13:18+00:00" }), "duoviz-duotree-2026-11-24T231318");
  assert.equal(fileName({ method: "rest", date: null }), "duoviz-rest");
  assert.equal(fileName({ method: "rest", date: "../../etc" }), "duoviz-rest", "and no way out of its folder");
});

test("no text of a model's is markup in the replay", async () => {
  const trace = { end: { text: "</script><script>alert(1)</script><!--" } };
  const page = replayPage(["<script>before", "after</script>"], trace);
  const inside = (await page.text()).slice("<script>before".length, -"after</script>".length);
  assert.equal(page.type, "text/html");
  assert.doesNotMatch(inside, /</);
  assert.deepEqual(JSON.parse(inside), trace);
});

test("a Chrome trace, in microseconds", () => {
  const iteration = iterationOf({
    index: 3, target: { start: 0.062916, end: 0.081978, rows: 4 }, draft: [{ start: 0.06, end: 0.0615, tokens: 2 }],
    committed: ["a", " b"], budget: 5, theta: 0.25, verdict: { outcome: "hit" },
  });
  const [process, ...events] = chromeTrace({ header: headerOf(), iterations: [iteration] });
  assert.deepEqual([process.name, process.args.name], ["process_name", "duoviz made_up"]);
  const [target, , draft, , forward, step] = events;
  const lanes = [target, draft].map(({ args }) => args.name);
  assert.deepEqual(lanes, ["Target · CPU core 1 (AMD EPYC)", "Draft · CPU core 0 (AMD EPYC)"]);
  assert.deepEqual(forward, {
    name: "target forward", cat: "target", ph: "X", ts: 62916, dur: 19062, pid: 1, tid: 1,
    args: { iteration: 3, rows: 4, committed: "a b", outcome: "hit", gamma: 5, theta: 0.25 },
  });
  assert.deepEqual(step, {
    name: "draft step", cat: "draft", ph: "X", ts: 60000, dur: 1500, pid: 1, tid: 2, args: { iteration: 3, tokens: 2 },
  });
});

test("without a draft there is one lane", () => {
  const events = chromeTrace({ header: headerOf({ draft: null }), iterations: [] });
  assert.deepEqual(events.map(({ name }) => name), ["process_name", "thread_name", "thread_sort_index"]);
});
