// Tests of layout.js: where a tree's nodes stand, first by columns and rows, then in pixels.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, iterationOf, near, nodeOf, ownNode, recordings } from "../testing.js";
import { foldColumns } from "./fold.js";
import { countLabel, placeItems, treeItems } from "./layout.js";

// A leads to B, and to D; B to the target's own. C is another first token.
const CHECKED = [
  nodeOf("A"), nodeOf("B", { parent: 0 }), nodeOf("C"), nodeOf("D", { parent: 0 }), ownNode("own", { parent: 1 }),
];
const TREE = iterationOf({ checked: CHECKED });

// By label, [column, row] of each item after the text.
const placesOf = ({ items }) => (
  Object.fromEntries(items.slice(1).map(({ label, column, row }) => [label, [column, row]]))
);
const pixelsOf = ({ items }) => items.map(({ label, x, y, line }) => [label, x, y, line]);
const onLines = (lines) => (widths) => foldColumns(widths, lines);
const itemOf = ({ items }, name) => items.find(({ label }) => label === name);

test("a first child stays on its parent's row, and each further one opens a row below", () => {
  const tree = treeItems(TREE, "");
  assert.deepEqual(placesOf(tree), { A: [1, 0], B: [2, 0], own: [3, 0], D: [2, 1], C: [1, 2] });
  assert.deepEqual([tree.rows, tree.split, tree.windowRow], [3, 4, null]);
});

test("each node hangs on its parent, the first ones on the text", () => {
  const tree = treeItems(TREE, "");
  const parents = ["A", "B", "C", "D", "own"].map((name) => itemOf(tree, name).from.label);
  assert.deepEqual(parents, ["start", "A", "start", "A", "B"]);
});

test("what was drafted meanwhile hangs on the end of the pending sequence", () => {
  const drafted = [nodeOf("x"), nodeOf("y", { parent: 0 }), nodeOf("z"), ownNode("own")];
  const checked = [nodeOf("A"), nodeOf("B", { parent: 0 })];
  const tree = treeItems(iterationOf({ checked, drafted, verdict: { outcome: "hit", sequence: 2 } }), "");
  assert.deepEqual(placesOf(tree), { A: [1, 0], B: [2, 0], x: [3, 0], y: [4, 0], z: [3, 1], own: [3, 2] });
  assert.deepEqual(["x", "z", "own"].map((name) => itemOf(tree, name).from.label), ["B", "B", "B"]);
  assert.deepEqual(["x", "y", "z", "own"].map((name) => itemOf(tree, name).taken), [false, false, true, false]);
});

test("a sequence's later tokens are taken with its first", () => {
  const drafted = [nodeOf("x"), nodeOf("z"), nodeOf("y", { parent: 0 })];
  const tree = treeItems(iterationOf({ drafted, verdict: { outcome: "hit", sequence: 1 } }), "");
  assert.deepEqual(["x", "z", "y"].map((name) => itemOf(tree, name).taken), [true, false, true]);
});

test("nothing proposed: the text alone", () => {
  const tree = treeItems(iterationOf(), "");
  assert.deepEqual([tree.items.length, tree.rows, tree.items[0].label], [1, 1, "start"]);
});

test("the text before it, by its last whole words", () => {
  const tails = ["", "Explain what", "Explain what a rainbow is.", "abcdefghijklmnopqrstuvwxyz"];
  const labels = tails.map((tail) => treeItems(iterationOf(), tail).items[0].label);
  assert.deepEqual(labels, ["start", "Explain what", "…what a rainbow is.", "…ghijklmnopqrstuvwxyz"]);
});

test("Lookahead's window stands below, a row for each level", () => {
  const window = (text, parent) => nodeOf(text, { parent, status: "window", source: "lookahead" });
  // The second level goes on from the first one's first token.
  const checked = [window("a", -1), window("b", 0), window("c", 0), window("d", 2), ownNode("own")];
  const tree = treeItems(iterationOf({ checked }), "");
  assert.deepEqual(placesOf(tree), { own: [1, 0], a: [1, 1], b: [2, 1], c: [2, 2], d: [3, 2] });
  assert.deepEqual([tree.windowRow, tree.rows, itemOf(tree, "a").from], [1, 3, undefined]);
});

test("of a living tree, those that live on and the first eight others are drawn", () => {
  const others = Array.from({ length: 10 }, (_, index) => nodeOf(`o${index}`, { parent: 0, status: "discarded" }));
  const pending = (text, parent) => nodeOf(text, { parent, status: "pending" });
  const rest = [...others, pending("lives", 0), pending("hidden", 10)];
  const tree = treeItems(iterationOf({ checked: [nodeOf("A")], rest }), "");
  const drawn = tree.items.filter(({ list }) => list === "rest").map(({ label, index }) => [label, index]);
  // One whose parent is not drawn would hang on nothing: o9 is number 10 of the tree.
  assert.deepEqual(drawn, [...others.slice(0, 8).map(({ text }, index) => [text, index]), ["lives", 10]]);
});

test("of very many nodes the first 300 are drawn, and the target's own", () => {
  const checked = [...Array.from({ length: 400 }, (_, index) => nodeOf(`n${index}`)), ownNode("own")];
  const { items } = treeItems(iterationOf({ checked }), "");
  assert.equal(items.length, 1 + 300 + 1);
  assert.equal(items.at(-1).label, "own");
});

test("how often a datastore had seen a token", () => {
  assert.deepEqual([nodeOf("a", { count: 3 }), nodeOf("a"), undefined].map(countLabel), [" ×3", "", ""]);
});

// Two nodes of one character after "start": 55, 37.4 and 37.4 pixels wide.
const twoRoots = () => treeItems(iterationOf({ checked: [nodeOf("A"), nodeOf("B")] }), "");

test("in pixels, on one line", () => {
  const tree = twoRoots();
  const places = placeItems(tree, onLines(1), 30);
  assert.deepEqual(pixelsOf(tree), [["start", 2, 39, 0], ["A", 83, 39, 0], ["B", 83, 69, 0]]);
  assert.deepEqual(places.columns, [{ left: 2, caption: 12 }, { left: 83, caption: 12 }]);
  near(places.right, 83 + 37.4 + 2);
  assert.deepEqual([places.height, places.lineHeight, places.windowTop], [24 + 2 * 30 + 4, 40, null]);
});

test("in pixels, on two lines", () => {
  const tree = twoRoots();
  const places = placeItems(tree, onLines(2), 30);
  assert.deepEqual(pixelsOf(tree), [["start", 2, 39, 0], ["A", 28, 93, 1], ["B", 28, 123, 1]]);
  // An edge comes in at its parent's row, where that row is on the line.
  assert.deepEqual(tree.items.map(({ entry }) => entry), [39, 93, 93]);
  near(places.right, 2 + 55 + 13);
  assert.equal(places.height, 142);
});

test("rows that a line does not use take no room on it", () => {
  const checked = [nodeOf("A"), nodeOf("B"), nodeOf("C"), nodeOf("D", { parent: 2 })];
  const tree = treeItems(iterationOf({ checked }), "");
  placeItems(tree, onLines(3), 30);
  const { line, y, entry } = itemOf(tree, "D");
  assert.equal(line, 2);
  assert.equal(entry, y, "its row is the only one there");
  assert.equal(y, 24 + 30 + 24 + 3 * 30 + 10 + 15);
});

test("a window has room for its caption above it", () => {
  const window = (text, parent) => nodeOf(text, { parent, status: "window" });
  const tree = treeItems(iterationOf({ checked: [ownNode("own"), window("a", -1)] }), "");
  const places = placeItems(tree, onLines(1), 30);
  assert.deepEqual(tree.items.map(({ y }) => y), [39, 39, 69 + 20]);
  assert.deepEqual([places.windowTop, places.height], [24 + 30 + 16, 24 + 60 + 20 + 4]);
});

test("wide characters take more room, and counts too", () => {
  const tree = treeItems(iterationOf({ checked: [nodeOf("日"), nodeOf("A", { count: 3 })] }), "");
  placeItems(tree, onLines(1), 30);
  near(itemOf(tree, "日").width, 13 + 30);
  near(itemOf(tree, "A").width, 4 * 7.4 + 30);
});

test("in the recordings no two nodes stand on the same place, and all follow their parents", () => {
  for (const { header, iterations } of recordings()) {
    const { tails } = endedState(iterations, header);
    iterations.forEach((iteration, position) => {
      const tree = treeItems(iteration, tails[position]);
      const places = new Set(tree.items.map(({ column, row }) => `${column} ${row}`));
      assert.equal(places.size, tree.items.length, `${header.method}, iteration ${position}`);
      assert.ok(tree.items.every(({ column, row, from }) => !from || (from.column < column && from.row <= row)));
      for (const lines of [1, 3]) {
        const { right, height } = placeItems(tree, onLines(lines), 26);
        assert.ok(tree.items.every(({ x, y, width }) => x >= 0 && x + width <= right && y >= 0 && y <= height));
      }
    });
  }
});
