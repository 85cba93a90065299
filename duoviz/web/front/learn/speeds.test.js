// Tests of speeds.js: why a run was as fast as it was.

import assert from "node:assert/strict";
import test from "node:test";
import { whyOf } from "./speeds.js";

test("by tokens a forward, the time of one, its rows and its device", () => {
  assert.equal(whyOf({ tau: 2.286, iteration: 0.0234, rows: 5.04, device: "CPU cores 0, 1" }),
    "τ 2.29 · 23.4 ms per iteration · 5.0 tokens read · CPU cores 0, 1");
  assert.equal(whyOf({ tau: 1, iteration: null, rows: 1, device: "CPU" }),
    "τ 1.00 · – per iteration · 1.0 tokens read · CPU");
});
