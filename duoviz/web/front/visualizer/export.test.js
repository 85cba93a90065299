// Tests of what is saved of a run: its name, the replay, and films; tests/web/front holds the timeline to Python's.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings } from "../testing.js";
import { chromeTrace, fileName, replayPage, traceOf } from "./export.js";
import { withLength } from "./film.js";
import { nodesOf } from "./looks.js";

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

test("a Chrome trace, in microseconds; without a draft there is one lane", () => {
  const iteration = iterationOf({ index: 3, target: { start: 0.062916, end: 0.081978, rows: 4 }, committed: ["a", " b"], theta: 0.25 });
  const events = chromeTrace({ header: headerOf({ draft: null }), iterations: [iteration] });
  assert.deepEqual(events.map(({ name }) => name), ["process_name", "thread_name", "thread_sort_index", "target forward"]);
  assert.deepEqual(events.at(-1), {
    name: "target forward", cat: "target", ph: "X", ts: 62916, dur: 19062, pid: 1, tid: 1,
    args: { iteration: 3, rows: 4, committed: "a b", outcome: "none", theta: 0.25 },
  });
});

test("a film gets its length, and anything else stays as it is", async () => {
  const bytesOf = (hex) => Uint8Array.from(hex.match(/[0-9a-f]{2}/g), (byte) => parseInt(byte, 16));
  const hexOf = async (parts) => Buffer.from(await new Blob(parts).arrayBuffer()).toString("hex");
  // Written while the end was not known: all ones.
  const [head, open] = ["1a45dfa380", "1853806701ffffffffffffff"];
  const [scale, cluster] = ["2ad7b1830f4240", "1f43b67501ffffffffffffffa38101"];
  const film = (segment, info, size) => bytesOf(head + segment + "1549a966" + size + info + cluster);
  // Two and a half seconds; what is in the info is 7 and 11 bytes long.
  const expected = `${head}${open}1549a9660100000000000012${scale}44898840a3880000000000${cluster}`;
  assert.equal(await hexOf(withLength(film(open, scale, "87"), 2.5)), expected);
  // A length that is there is replaced.
  assert.equal(await hexOf(withLength(film(open, `448988${"00".repeat(8)}${scale}`, "92"), 2.5)), expected);
  for (const bytes of [film("1853806788", scale, "87"), bytesOf(head + open + cluster)]) {
    assert.deepEqual(withLength(bytes, 2.5), [bytes]);
  }
});

test("each token that flies to the text was the next accepted node with its id, or the target's own", () => {
  const checked = [
    nodeOf("a", { id: 1 }), nodeOf("x", { id: 2, status: "rejected" }), nodeOf("a", { id: 1, parent: 0 }),
  ];
  const committed = [1, 9, 1, 2].map((id) => ({ id, text: "t", source: "draft", gap: null }));
  const at = nodesOf(iterationOf({ checked, drafted: [ownNode("c", { id: 2 })], committed }));
  assert.deepEqual(at.map((each) => each && `${each.list} ${each.index}`), ["checked 0", null, "checked 2", "drafted 0"]);
  for (const iteration of recordings().flatMap(({ iterations }) => iterations)) {
    const nodes = nodesOf(iteration);
    iteration.committed.forEach(({ id, source }, order) => {
      const node = nodes[order] && iteration[nodes[order].list][nodes[order].index];
      assert.ok(node ? node.id === id : source !== "draft");
    });
  }
});
