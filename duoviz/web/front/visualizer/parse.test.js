// Tests of parse.js: it gives what JSON.parse gives, in parts, and refuses what is too deep, too much or infinite.

import assert from "node:assert/strict";
import test from "node:test";
import { recordings } from "../testing.js";
import { parseJson } from "./parse.js";

const NO_JSON = { problem: "is not JSON" };
const A_PART = 100_000;
const nested = (levels) => "[".repeat(levels) + "]".repeat(levels);

// Longer than a part, so that it is parsed in several; each text would be a bracket, a comma or a quote too many.
const TEXTS = ["],[", `"`, "\\", `\\"`, "}"];
const LONG = {
  header: { prompt: `"iterations": [` },
  iterations: Array.from({ length: 4000 }, (_, index) => (
    { index, text: TEXTS[index % 5], list: [[1, 2], {}], pad: "x".repeat(60) }
  )),
  end: { text: "]}" },
};
const WRITTEN = JSON.stringify(LONG);

test("what is long is parsed in parts", async () => {
  for (const text of [WRITTEN, JSON.stringify(LONG, null, 2)]) {
    assert.ok(text.length > 3 * A_PART);
    assert.deepEqual(await parseJson(text), { value: LONG });
  }
});

test("what is written comes back", async () => {
  const values = [
    { iterations: [1, { a: [] }], b: null }, null, 1500, ...recordings(),
    // Only the outermost iterations are cut.
    { header: { iterations: LONG.iterations }, iterations: [1, 2] }, [LONG],
    // Where a text would end too early or too late, its brackets would be the value's.
    [`"${"[".repeat(40)}`], ["\\", "[".repeat(40)], [`\\"${"[".repeat(40)}`], [nested(99)],
    // A text is no number, and these can be held.
    ["1e999"], [1e308, 1e60],
  ];
  for (const value of values) assert.deepEqual(await parseJson(` ${JSON.stringify(value)} `), { value });
});

test("what is no JSON", async () => {
  for (const text of ["", "{", `{"a": }`, "[1,]", "[1] 2", `"`, `"\\`, "{'a': 1}", "undefined", `{"iterations": [1`]) {
    assert.deepEqual(await parseJson(text), NO_JSON, text);
  }
});

test("what is no JSON in one of many parts", async () => {
  const cutAt = WRITTEN.indexOf(`,{"index"`, WRITTEN.indexOf(`{"index":0`) + A_PART + 1);
  const [before, after] = [WRITTEN.slice(0, cutAt), WRITTEN.slice(cutAt)];
  const broken = [
    `${before},${after}`, `${before},]${after}`, `${before}${after.slice(1)}`, WRITTEN.slice(0, -1),
    WRITTEN.replace(`"index":3000`, `"index":03000`), WRITTEN.replace(`],"end"`, `,],"end"`),
    // Nothing stands after a comma, though the part before it is JSON.
    `{"iterations": ["${"x".repeat(A_PART)}", ]}`,
  ];
  for (const text of broken) assert.deepEqual(await parseJson(text), NO_JSON);
});

test("as deep as it may be, and deeper", async () => {
  assert.deepEqual(await parseJson(nested(32)), { value: JSON.parse(nested(32)) });
  for (const text of [nested(33), `{"a":`.repeat(33)]) {
    assert.deepEqual(await parseJson(text), { problem: "is nested deeper than 32 levels" });
  }
});

test("more values than a page can hold", async () => {
  assert.deepEqual(await parseJson(`[${"{},".repeat(2_500_000)}{}]`), { problem: "has more than 20,000,000 values" });
});

test("numbers that JavaScript cannot hold", async () => {
  for (const text of ["[1e309]", "[-1E+400]", "[1e0999]", `[${"9".repeat(310)}]`]) {
    assert.deepEqual(await parseJson(text), { problem: "has a number that is too large" }, text);
  }
  assert.deepEqual(await parseJson(`[${"9".repeat(60)}, 1e-400]`), { value: [1e60, 0] });
});
