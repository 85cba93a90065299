// Tests of what the figure "cache" says.

import assert from "node:assert/strict";
import test from "node:test";
import { partsOf } from "./cache.js";

const node = (text, status) => ({ text, status });

test("what is accepted stays, the rest of what was read is rolled back, and the own token is yet to be read", () => {
  const [checked, own] = [[node("is", "accepted"), node("so", "rejected"), node("a", "discarded")], node("it", "correction")];
  const parts = partsOf({ cached: 40, last: "sky", checked, own });
  assert.deepEqual(parts.map(([part, words]) => [part, words.match(/\d+$|\d+ (stay|tokens)/)?.[0]]), [
    ["before", "40 tokens"], ["read", "44"], ["kept", "42 stay"], ["dropped", "2"], ["own", undefined],
  ]);
  assert.deepEqual(parts.map(([, , items]) => items.map(({ label }) => label)), [
    ["40 tokens"], ["40 tokens", "sky", "is", "so", "a"], ["40 tokens", "sky", "is"], ["so", "a"], ["it"],
  ]);
  assert.deepEqual(partsOf({ cached: 1, last: "a", checked: [], own }).map(([part]) => part), ["before", "read", "kept", "own"]);
});
