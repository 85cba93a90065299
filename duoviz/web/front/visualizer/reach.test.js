// Tests of reach.js: the tree's box stays as high as it was in this run.

import assert from "node:assert/strict";
import test from "node:test";
import { createReach } from "./reach.js";

test("the greatest height of a run, and another one's own", () => {
  const style = new Map();
  const reach = createReach({ style: { setProperty: (name, value) => style.set(name, value) } });
  const heights = [[100, "1 300"], [250.2, "1 300"], [80, "1 300"], [90, "2 300"], [70, "2 400"], [60, "2 400"]];
  assert.deepEqual(heights.map(([height, run]) => {
    reach(height, run);
    return style.get("--dv-reached");
  }), ["100px", "251px", "251px", "90px", "70px", "70px"]);
});
