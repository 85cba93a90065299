// Tests of what is saved of a run: its name, and the replay.

import assert from "node:assert/strict";
import test from "node:test";
import { fileName, replayPage } from "./export.js";

test("a file's name has the method and the time", () => {
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
