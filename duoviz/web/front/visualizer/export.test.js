// Tests of what is saved of a run: its name, and the replay.

import assert from "node:assert/strict";
import test from "node:test";
import { recordings } from "../testing.js";
import { fileName, replayPage, traceOf } from "./export.js";

test("a trace is what was recorded, and its file's name has the method and the time", () => {
  for (const trace of recordings()) assert.deepEqual(traceOf({ ...trace, shown: 3 }), trace);
  const names = ["2026-11-24T23:13:18+00:00", null, "../../etc"].map((date) => fileName({ method: "rest", date }));
  assert.deepEqual(names, ["duoviz-rest-2026-11-24T231318", "duoviz-rest", "duoviz-rest"]);
});

test("no text of a model's is markup in the replay", async () => {
  const trace = { end: { text: "</script><script>alert(1)</script><!--" } };
  const page = replayPage(["<script>before", "after</script>"], trace);
  const inside = (await page.text()).slice("<script>before".length, -"after</script>".length);
  assert.equal(page.type, "text/html");
  assert.doesNotMatch(inside, /</);
  assert.deepEqual(JSON.parse(inside), trace);
});
