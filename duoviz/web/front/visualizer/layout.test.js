// Tests of layout.js: where a tree's nodes stand, by columns and rows, on lines, and in pixels.

import assert from "node:assert/strict";
import test from "node:test";
import { iterationOf, near, nodeOf, ownNode, recordings } from "../testing.js";
import { fillLines, placeItems, treeItems } from "./layout.js";
import { textBefore } from "./state.js";

const treeOf = (iteration, tail = "") => treeItems(iterationOf(iteration), tail);
// By label, [column, row] and parent of each item after the text.
const placesOf = ({ items }) => (
  Object.fromEntries(items.slice(1).map(({ label, column, row, from }) => [label, [column, row, from?.label]]))
);
const itemOf = ({ items }, name) => items.find(({ label }) => label === name);
const childOf = (parent) => (text, more) => nodeOf(text, { parent, ...more });

test("a first child stays on its parent's row, and each further one opens a row below", () => {
  // A leads to B, and to D; B to the target's own. C is another first token.
  const checked = [nodeOf("A"), childOf(0)("B"), nodeOf("C"), childOf(0)("D"), ownNode("own", { parent: 1 })];
  const tree = treeOf({ checked });
  assert.deepEqual(placesOf(tree), {
    A: [1, 0, "start"], B: [2, 0, "A"], own: [3, 0, "B"], D: [2, 1, "A"], C: [1, 2, "start"],
  });
  assert.deepEqual([tree.rows, tree.split, tree.windowRow], [3, 4, null]);
});

test("what was drafted meanwhile follows the pending sequence's last token; one sequence is taken whole", () => {
  const drafted = [nodeOf("x"), nodeOf("z"), childOf(0)("y"), ownNode("own")];
  const taken = (sequence) => {
    const tree = treeOf({ checked: [nodeOf("A"), childOf(0)("B")], drafted, verdict: { outcome: "hit", sequence } });
    assert.deepEqual(placesOf(tree), {
      A: [1, 0, "start"], B: [2, 0, "A"], x: [3, 0, "B"], y: [4, 0, "x"], z: [3, 1, "B"], own: [3, 2, "B"],
    });
    return tree.items.filter((item) => item.taken).map(({ label }) => label);
  };
  assert.deepEqual([taken(1), taken(2)], [["x", "y"], ["z"]]);
});

test("the text before it, by its last whole words", () => {
  const tails = ["", "Explain what", "Explain what a rainbow is.", "abcdefghijklmnopqrstuvwxyz"];
  const trees = tails.map((tail) => treeOf({}, tail));
  const labels = trees.map(({ items: [{ label }] }) => label);
  assert.deepEqual(labels, ["start", "Explain what", "…what a rainbow is.", "…ghijklmnopqrstuvwxyz"]);
  assert.deepEqual([trees[0].items.length, trees[0].rows], [1, 1]);
});

test("Lookahead's window stands below, a row for each level", () => {
  const window = (text, parent) => nodeOf(text, { parent, status: "window", source: "lookahead" });
  // The second level goes on from the first one's first token.
  const tree = treeOf({ checked: [window("a", -1), window("b", 0), window("c", 0), window("d", 2), ownNode("own")] });
  assert.deepEqual(placesOf(tree), {
    own: [1, 0, "start"], a: [1, 1, undefined], b: [2, 1, undefined], c: [2, 2, undefined], d: [3, 2, undefined],
  });
  assert.deepEqual([tree.windowRow, tree.rows], [1, 3]);
});

test("where few rows have room, what is right stays, and of what is wrong the first rows and little after it", () => {
  const wrong = (text, parent) => nodeOf(text, { parent, status: "discarded" });
  // Two wrong beginnings with long ends, then what is right: accepted, and the target's own.
  const checked = [
    wrong("a", -1), wrong("b", -1), nodeOf("R"), wrong("a1", 0), wrong("a2", 3), wrong("a3", 4), wrong("a4", 5),
    ownNode("own", { parent: 2 }), wrong("r", 2),
  ];
  const drafted = [nodeOf("x", { status: "pending" }), wrong("y", -1), wrong("y1", 1)];
  const on = (rows) => treeItems(iterationOf({ checked, drafted }), "", { rows });
  const labels = (tree) => tree.items.slice(1).map(({ label }) => label);
  assert.deepEqual([labels(on(Infinity)).length, on(Infinity).missing], [12, 0]);
  assert.deepEqual([labels(on(3)), on(3).missing], [["a", "b", "R", "a1", "a2", "a3", "own", "x", "y", "y1"], 2]);
  // What is not wrong is never left out, whatever the room.
  assert.deepEqual([labels(on(1)), on(1).missing, on(1).rows], [["a", "R", "a1", "a2", "a3", "own", "x"], 5, 2]);
  // Of Lookahead's window two levels are left.
  const looking = Array.from({ length: 6 }, (_, at) => nodeOf(`w${at}`, { parent: at - 1, status: "window" }));
  const levels = [0, 1, 2, 3].map((level) => nodeOf(`l${level}`, { parent: 0, status: "window" }));
  const window = treeItems(iterationOf({ checked: [...looking, ...levels] }), "", { rows: 1 });
  assert.deepEqual([window.missing, window.rows], [3, 3]);
});

test("of a living tree those that live on and the first eight others are drawn", () => {
  const others = Array.from({ length: 10 }, (_, index) => childOf(0)(`o${index}`, { status: "discarded" }));
  const rest = [...others, childOf(0)("lives", { status: "pending" }), childOf(10)("hidden", { status: "pending" })];
  const drawn = treeOf({ checked: [nodeOf("A")], rest }).items.filter(({ list }) => list === "rest");
  // One whose parent is not drawn would hang on nothing: o9 is number 10 of the tree.
  const expected = [...others.slice(0, 8).map(({ text }, index) => [text, index]), ["lives", 10]];
  assert.deepEqual(drawn.map(({ label, index }) => [label, index]), expected);
});

test("columns stand a gap apart; a line takes as many as it is wide, and one at least", () => {
  const [first, second, third] = [2, 78, 154].map((left) => ({ line: 0, left }));
  const next = (line) => ({ line, left: 28 });
  assert.deepEqual(fillLines([50, 50, 50], Infinity), [first, second, third]);
  // Later lines begin farther right.
  assert.deepEqual(fillLines([50, 50, 50], 154), [first, second, next(1)]);
  assert.deepEqual(fillLines([10, 500, 10], 154), [first, next(1), next(2)], "no line stays empty");
  // What is a little too wide stands closer instead.
  const lines = (most) => placeItems(treeOf({ checked: [nodeOf("A"), childOf(0)("B"), ownNode("own", { parent: 1 })] }), most, 30).columns;
  const [loose, close, folded] = [400, 245, 200].map(lines);
  const gaps = (columns) => columns[2].left - columns[1].left;
  assert.deepEqual([loose, close, folded].map((columns) => columns.at(-1).line), [0, 0, 1]);
  assert.equal(gaps(loose) - gaps(close), 13);
});

test("a window has room for its caption above it; wide characters take more room, and counts too", () => {
  const looking = treeOf({ checked: [ownNode("own"), nodeOf("a", { status: "window" })] });
  const places = placeItems(looking, Infinity, 30);
  assert.deepEqual([places.windowTop, places.height], [24 + 30 + 16, 24 + 60 + 20 + 4]);
  const tree = treeOf({ checked: [nodeOf("日"), nodeOf("A", { count: 3 })] });
  placeItems(tree, Infinity, 30);
  near(itemOf(tree, "日").width, 14 + 30);
  near(itemOf(tree, "A").width, 4 * 7.85 + 30);
});

test("in the recordings no node lies over another, and all follow their parents", () => {
  const isLeft = (one, other) => one.x + one.width <= other.x;
  const meet = (one, other) => Math.abs(one.y - other.y) < 26 && !isLeft(one, other) && !isLeft(other, one);
  for (const { header, iterations } of recordings()) {
    iterations.forEach((iteration, position) => {
      const tree = treeItems(iteration, textBefore({ header, iterations }, position));
      assert.ok(tree.items.every(({ column, row, from }) => !from || (from.column < column && from.row <= row)));
      // A tree with a window stays on its line.
      for (const most of tree.windowRow === null ? [Infinity, 400] : [Infinity]) {
        const { right, height } = placeItems(tree, most, 26);
        assert.ok(tree.items.every(({ x, y, width }) => x >= 0 && x + width <= right && y >= 0 && y <= height));
        assert.ok(tree.items.every(({ from, line, entry }) => !from || from.line !== line || entry === from.y), "edges");
        const over = tree.items.filter((one, at) => tree.items.slice(at + 1).some((other) => meet(one, other)));
        assert.deepEqual(over, [], `${header.method}, iteration ${position}`);
      }
    });
  }
});
