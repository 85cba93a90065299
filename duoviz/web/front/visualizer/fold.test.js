// Tests of fold.js: columns on several lines, and how many lines suit a drawing.

import assert from "node:assert/strict";
import test from "node:test";
import { bestLines, COLUMN_GAP, fillLines, foldColumns } from "./fold.js";

const ENOUGH = 0.9;

test("columns on one line stand a gap apart", () => {
  assert.equal(COLUMN_GAP, 26);
  assert.deepEqual(foldColumns([50, 50, 50], 1), [{ line: 0, left: 2 }, { line: 0, left: 78 }, { line: 0, left: 154 }]);
});

test("a line takes as many columns as it is wide, and one at least", () => {
  assert.deepEqual(fillLines([50, 50, 50], 154).map(({ line }) => line), [0, 0, 1]);
  // What comes later moves nothing.
  assert.deepEqual(fillLines([50, 50, 50, 50], 154).slice(0, 3), fillLines([50, 50, 50], 154));
  assert.deepEqual(fillLines([500, 10], 154), [{ line: 0, left: 2 }, { line: 1, left: 28 }]);
});

test("two lines are as narrow as can be", () => {
  // Two and one need 128 pixels; one and two would need 154, for later lines begin farther right.
  assert.deepEqual(foldColumns([50, 50, 50], 2), [{ line: 0, left: 2 }, { line: 0, left: 78 }, { line: 1, left: 28 }]);
});

test("a column each, where there are as many lines", () => {
  assert.deepEqual(foldColumns([50, 50, 50], 3).map(({ line }) => line), [0, 1, 2]);
  assert.deepEqual(foldColumns([10, 500, 10], 3), [{ line: 0, left: 2 }, { line: 1, left: 28 }, { line: 2, left: 28 }]);
});

test("no line stays empty", () => {
  assert.deepEqual(foldColumns([500], 5), [{ line: 0, left: 2 }]);
  assert.deepEqual(foldColumns([500, 10], 5).map(({ line }) => line), [0, 1]);
});

test("lines are added while they make the drawing larger", () => {
  const scales = [0.5, 0.8, 0.7, 1, 2];
  assert.equal(bestLines(5, (lines) => scales[lines - 1], ENOUGH), 4, "and no further than is enough");
  assert.equal(bestLines(3, (lines) => scales[lines - 1], ENOUGH), 2);
  assert.equal(bestLines(3, () => 0.8, ENOUGH), 1, "more gain nothing");
  assert.equal(bestLines(5, (lines) => lines, ENOUGH), 1, "one is large enough");
});
