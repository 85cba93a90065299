// Tests of bars.js: which φ a bar's whole width stands for.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { longestBar, stripes } from "./bars.js";

const SPEEDS = {
  papers: ["Llama", "Vicuna"],
  lines: [
    { here: { code: { phi: 1.5 } }, paper: { Llama: { code: 2.5, chat: 0.5 }, Vicuna: {} } },
    { here: { code: { phi: 2 }, chat: { phi: 0.9 } }, paper: { Llama: {}, Vicuna: { code: 1 } } },
  ],
};

test("a little more than the task's largest, here or in the paper", () => {
  near(longestBar(SPEEDS, "code"), 1.12 * 2.5);
  near(longestBar({ ...SPEEDS, papers: ["Vicuna"] }, "code"), 1.12 * 2);
});

test("vanilla's line is always on it", () => {
  near(longestBar(SPEEDS, "chat"), 1.12);
  near(longestBar({ papers: [], lines: [] }, "code"), 1.12);
});

test("the sign of what was measured here has every method's colour", () => {
  assert.equal(stripes([{ colour: "#111" }, { colour: "#222" }]), "#111 0% 50%,#222 50% 100%");
});
