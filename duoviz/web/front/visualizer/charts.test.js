// Test of charts.js: the line of a chart.

import assert from "node:assert/strict";
import test from "node:test";
import { linePath } from "./charts.js";

test("a line has a gap where a value is not known, and goes in steps or from middle to middle", () => {
  // Forty pixels, ten for each; from 42 down to 6 pixels below the top.
  const values = [0, 4, null, 2];
  assert.equal(linePath(values, 4, 40, true), "M0.0 42.0H10.0L10.0 6.0H20.0M30.0 24.0H40.0");
  assert.equal(linePath(values, 4, 40, false), "M5.0 42.0h0L15.0 6.0M35.0 24.0h0");
});
