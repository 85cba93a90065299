// Tests of map.js: colours, places and borders of the map of φ.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { borderPath, colourOf, onMap, placeOfAlpha, placeOfRatio, wayPlaces } from "./map.js";

const PAYS = { ratios: [0.5, 2, 8], alphas: [0.1, 0.3, 0.5, 0.7, 0.9] };
const same = (place) => place;
const grid = (size, value) => Array.from({ length: size }, () => Array.from({ length: size }, () => value));

test("from brown through white, where nothing is gained, to blue", () => {
  assert.deepEqual([0, 1, 1.65, 3].map(colourOf), [[179, 84, 30], [243, 237, 228], [95, 196, 182], [11, 79, 108]]);
  assert.deepEqual(colourOf(0.5), [211, 161, 129]);
  assert.deepEqual([-1, 9].map(colourOf), [0, 3].map(colourOf));
});

test("ratios are spaced by their logarithms, alphas evenly", () => {
  [[0.5, 0], [1, 0.5], [2, 1], [8, 2]].forEach(([ratio, place]) => near(placeOfRatio(ratio, PAYS), place));
  [[0.1, 0], [0.5, 2], [0.6, 2.5], [0.9, 4]].forEach(([alpha, place]) => near(placeOfAlpha(alpha, PAYS), place));
});

test("a point moves to the nearest values, and never off the map", () => {
  assert.deepEqual(onMap({ ratio: 1.4, alpha: 2.6 }, PAYS), { ratio: 1, alpha: 3 });
  assert.deepEqual(onMap({ ratio: -5, alpha: 99 }, PAYS), { ratio: 0, alpha: 4 });
});

test("a border passes each side in proportion, where the map's axes lead", () => {
  const borders = [
    [[[0, 0], [2, 2]], "M1.0 0.5L0.0 0.5"], [[[0, 0], [5, 5]], "M1.0 0.2L0.0 0.2"],
    [[[0, 2], [0, 2]], "M0.5 0.0L0.5 1.0"],
    // The values pass the level twice.
    [[[2, 0], [0, 2]], "M0.5 0.0L1.0 0.5M0.5 1.0L0.0 0.5"],
    // None passes it: at the level is over it.
    [grid(3, 2), ""], [grid(3, 1), ""],
  ];
  for (const [lines, path] of borders) assert.equal(borderPath(lines, 1, same, same), path);
  const [[half]] = borders;
  assert.equal(borderPath(half, 1, same, same, () => false), "", "nobody asks");
  assert.equal(borderPath(half, 1, (x) => 10 * x, (y) => 100 - 10 * y), "M10.0 95.0L0.0 95.0");
});

test("a way's name stands where it is faster and gains, near the middle and free", () => {
  const panel = { here: grid(10, 2), beside: { here: grid(10, 1) } };
  assert.deepEqual(wayPlaces(panel, "here", 1.05), [{ name: "parallel", ratio: 4, alpha: 4 }]);
  const inTurn = { ...panel, beside: { here: grid(10, -1) } };
  assert.deepEqual(wayPlaces({ ...panel, beside: { here: grid(10, 0) } }, "here", 1.05), [], "both are as fast");
  assert.deepEqual(wayPlaces(inTurn, "here", 1.05), [{ name: "sequential", ratio: 4, alpha: 4 }]);
  const isFree = ({ ratio }) => ratio > 6;
  assert.deepEqual(wayPlaces(panel, "here", 1.05, isFree), [{ name: "parallel", ratio: 7, alpha: 4 }], "beside the ring");
  assert.deepEqual(wayPlaces(panel, "here", 1.05, () => false), []);
  assert.deepEqual(wayPlaces({ ...panel, here: grid(10, 1) }, "here", 1.05), [], "nothing is gained");
  assert.deepEqual(wayPlaces({ here: grid(7, 2), beside: { here: grid(7, 1) } }, "here", 1.05), [],
    "there is no room for a name");
});

test("where both ways gain, each name stands in its own part", () => {
  const lines = Array.from({ length: 20 }, (_, alpha) => Array.from({ length: 10 }, () => (alpha < 10 ? -1 : 1)));
  const places = wayPlaces({ here: lines.map((line) => line.map(() => 2)), beside: { here: lines } }, "here", 1.05);
  assert.deepEqual(places, [{ name: "parallel", ratio: 4, alpha: 14 }, { name: "sequential", ratio: 4, alpha: 4 }]);
});
