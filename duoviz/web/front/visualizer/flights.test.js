// Tests of flights.js: which node of the tree became which token of the text.

import assert from "node:assert/strict";
import test from "node:test";
import { iterationOf, nodeOf, ownNode, recordings } from "../testing.js";
import { nodesOf } from "./flights.js";

const token = (id) => ({ id, text: `t${id}`, source: "draft", gap: null });

test("each token was the next accepted node with its id, and the last one the target's own", () => {
  const checked = [nodeOf("a", { id: 1 }), nodeOf("x", { id: 2, status: "rejected" }), nodeOf("b", { id: 3, parent: 0 })];
  const drafted = [ownNode("c", { id: 2 })];
  const committed = [token(1), token(3), token(2)];
  const at = nodesOf(iterationOf({ checked, drafted, committed }));
  assert.deepEqual(at, [{ list: "checked", index: 0 }, { list: "checked", index: 2 }, { list: "drafted", index: 0 }]);
});

test("one that was no node, or comes twice, has its own or none", () => {
  const checked = [nodeOf("a", { id: 1 }), nodeOf("a", { id: 1, parent: 0 })];
  const at = nodesOf(iterationOf({ checked, committed: [token(1), token(9), token(1)] }));
  assert.deepEqual(at, [{ list: "checked", index: 0 }, null, { list: "checked", index: 1 }]);
});

test("in the recordings every token that the draft guessed was a node", () => {
  for (const { iterations } of recordings()) {
    for (const iteration of iterations) {
      const nodes = nodesOf(iteration);
      iteration.committed.forEach(({ id, source }, order) => {
        const node = nodes[order] && iteration[nodes[order].list][nodes[order].index];
        assert.ok(node ? node.id === id : source !== "draft");
      });
    }
  }
});
