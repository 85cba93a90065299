// Tests of limits.js: which controls there are, and what is hidden where a link names some.

import assert from "node:assert/strict";
import test from "node:test";
import { controlsOf, hidingRule, isControl } from "./limits.js";

const ALL = ["prompt", "files", "step", "play", "slider", "speed", "zoom", "pages", "lessons", "live"];

test("controls have names", () => {
  assert.ok(ALL.every(isControl));
  assert.deepEqual(["", "Step", "constructor", "__proto__", "toString"].filter(isControl), []);
});

test("all but the named controls are hidden, on their tab alone", () => {
  assert.equal(hidingRule(["live", ALL]), "");
  assert.equal(hidingRule(["live", ALL.filter((name) => name !== "slider" && name !== "zoom")]),
    "#tab-live :is(.dv-slider, .dv-timeline .dv-tools) { display: none !important; }");
  assert.match(hidingRule(["learn", []]), /^#tab-learn :is\(#ask, .*, \.dl-live\) \{ display: none !important; \}$/);
});

test("a tab that no link limits has all controls", () => {
  assert.equal(controlsOf("live"), undefined);
});
