// Tests of outcomes.js: how an outcome is called.

import assert from "node:assert/strict";
import test from "node:test";
import { outcomeName } from "./outcomes.js";

test("a token by its label, and all that are not named together", () => {
  const names = [" rain", "", "<|im_end|>", null].map((text) => outcomeName({ text }));
  assert.deepEqual(names, ["␣rain", "∅", "end of answer", "other"]);
});
