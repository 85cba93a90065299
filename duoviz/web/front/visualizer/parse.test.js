// Tests of parse.js: it gives what JSON.parse gives, and refuses what is too deep, too much or infinite.

import assert from "node:assert/strict";
import test from "node:test";
import { parseJson } from "./parse.js";

const nested = (levels) => "[".repeat(levels) + "]".repeat(levels);

test("what is written comes back", () => {
  // A text is no number, and its brackets are no lists.
  const values = [{ iterations: [1, { a: [] }], b: null }, null, 1500, ["1e999", nested(99)], [1e308, 1e60]];
  for (const value of values) assert.deepEqual(parseJson(` ${JSON.stringify(value)} `), { value });
});

test("what is no JSON", () => {
  for (const text of ["", "{", `{"a": }`, "[1,]", "[1] 2", `"`, "{'a': 1}", "undefined", nested(33).slice(1)]) {
    assert.deepEqual(parseJson(text), { problem: "is not JSON" }, text);
  }
});

test("as deep as it may be, and deeper", () => {
  assert.deepEqual(parseJson(nested(32)), { value: JSON.parse(nested(32)) });
  for (const text of [nested(33), `${`{"a":`.repeat(33)}1${"}".repeat(33)}`, nested(1_000_000)]) {
    assert.deepEqual(parseJson(text), { problem: "is nested deeper than 32 levels" });
  }
});

test("more values than a page can hold", () => {
  assert.deepEqual(parseJson(`[${"{},".repeat(2_500_000)}{}]`), { problem: "has more than 20,000,000 values" });
});

test("numbers that JavaScript cannot hold", () => {
  for (const text of ["[1e309]", "[-1E+400]", "[1e0999]", `[${"9".repeat(310)}]`]) {
    assert.deepEqual(parseJson(text), { problem: "has a number that is too large" }, text);
  }
  assert.deepEqual(parseJson(`[${"9".repeat(60)}, 1e-400]`), { value: [1e60, 0] });
});
