// Tests of the results' drawings: the map's colours, places and borders, and how long bars are.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { borderPath, colourOf, errorWords, onMap, placeOfAlpha, placeOfRatio, wayPlaces } from "./map.js";
import { longestBar, stripes } from "./mount_results.js";

const PAYS = { ratios: [0.5, 2, 8], alphas: [0.1, 0.3, 0.5, 0.7, 0.9] };
const same = (place) => place;
const grid = (size, value) => Array.from({ length: size }, () => Array(size).fill(value));

test("the more is lost or gained, the more a colour covers the page, light or dark", () => {
  const colours = [[0, [196, 87, 27, 255]], [1, [196, 87, 27, 0]], [1, [14, 143, 184, 0]], [3, [14, 143, 184, 255]]];
  const found = [-1, 0, 0.5, 1, 2, 3, 9].map((phi) => colourOf(phi, colours));
  const [[, first], [, none], , [, last]] = colours;
  assert.deepEqual(found, [first, first, [196, 87, 27, 128], none, [14, 143, 184, 128], last, last]);
});

test("ratios are spaced by their logarithms, alphas evenly, and a point is never off the map", () => {
  [[0.5, 0], [1, 0.5], [2, 1], [8, 2]].forEach(([ratio, place]) => near(placeOfRatio(ratio, PAYS), place));
  [[0.1, 0], [0.5, 2], [0.6, 2.5], [0.9, 4]].forEach(([alpha, place]) => near(placeOfAlpha(alpha, PAYS), place));
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

test("an estimate says how far the model was off where that was measured", () => {
  const words = [0.184, -0.06, 0.001, null].map(errorWords);
  assert.deepEqual(words, ["; it was 18 % too high where measured", "; it was 6 % too low where measured", "; it was right where measured", ""]);
});

test("a way's name stands where it is faster and gains, near the middle of this and free", () => {
  const places = (size, lead, { phi = 2, isFree } = {}) => (
    wayPlaces({ here: grid(size, phi), beside: { here: grid(size, lead) } }, "here", 1.05, isFree));
  assert.deepEqual(places(10, 1), [{ name: "parallel", ratio: 4, alpha: 4 }]);
  assert.deepEqual(places(10, -1), [{ name: "sequential", ratio: 4, alpha: 4 }]);
  const isFree = ({ ratio }) => ratio > 6;
  assert.deepEqual(places(10, 1, { isFree }), [{ name: "parallel", ratio: 7, alpha: 4 }], "beside the ring");
  // Both are as fast, nothing is gained, there is no room for a name, and none that is free.
  const none = [places(10, 0), places(10, 1, { phi: 1 }), places(7, 1), places(10, 1, { isFree: () => false })];
  assert.deepEqual(none, [[], [], [], []]);
  const lines = Array.from({ length: 20 }, (_, alpha) => Array(10).fill(alpha < 10 ? -1 : 1));
  const both = wayPlaces({ here: lines.map((line) => line.map(() => 2)), beside: { here: lines } }, "here", 1.05);
  assert.deepEqual(both, [{ name: "parallel", ratio: 4, alpha: 14 }, { name: "sequential", ratio: 4, alpha: 4 }]);
});

test("the longest bar is a little more than the task's largest φ, here or in the paper, and vanilla's line is on it", () => {
  const lines = [
    { here: { code: { phi: 1.5 } }, paper: { Llama: { code: 2.5, chat: 0.5 }, Vicuna: {} } },
    { here: { code: { phi: 2 }, chat: { phi: 0.9 } }, paper: { Llama: {}, Vicuna: { code: 1 } } },
  ];
  near(longestBar({ papers: ["Llama", "Vicuna"], lines }, "code"), 1.12 * 2.5);
  near(longestBar({ papers: ["Vicuna"], lines }, "code"), 1.12 * 2);
  near(longestBar({ papers: ["Llama"], lines }, "chat"), 1.12);
  assert.equal(stripes([{ colour: "#111" }, { colour: "#222" }]), "#111 0% 50%,#222 50% 100%");
});
