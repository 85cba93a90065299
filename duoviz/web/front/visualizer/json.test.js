// Tests of json.js and check.js: what is too deep, too much or infinite, and that duoviz's schemas ask no more than is
// checked; tests/web/front holds what the page refuses to what Python refuses.

import assert from "node:assert/strict";
import test from "node:test";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };
import { createPacer } from "./check.js";
import { KEYWORDS, parseJson, wrongPlace } from "./json.js";

const nested = (levels) => "[".repeat(levels) + "]".repeat(levels);

test("what is written comes back", () => {
  // A text is no number, and its brackets are no lists.
  const values = [{ iterations: [1, { a: [] }], b: null }, null, 1500, ["1e999", nested(99)], [1e308, 1e60]];
  for (const value of values) assert.deepEqual(parseJson(` ${JSON.stringify(value)} `), { value });
  assert.deepEqual(parseJson(nested(32)), { value: JSON.parse(nested(32)) });
});

test("what is no JSON, too deep, more than a page can hold, or no number of JavaScript's", () => {
  const problems = {
    "is not JSON": ["", "{", `{"a": }`, "[1,]", "[1] 2", `"`, "undefined", nested(33).slice(1)],
    "is nested deeper than 32 levels": [nested(33), `${`{"a":`.repeat(33)}1${"}".repeat(33)}`, nested(1_000_000)],
    "has more than 20,000,000 values": [`[${"{},".repeat(2_500_000)}{}]`],
    "has a number that is too large": ["[1e309]", "[-1E+400]", "[1e0999]", `[${"9".repeat(310)}]`],
  };
  for (const [problem, texts] of Object.entries(problems)) {
    for (const text of texts) assert.deepEqual(parseJson(text), { problem }, text.slice(0, 50));
  }
});

test("where the first wrong value stands", () => {
  const schema = {
    type: "object", required: ["a"],
    properties: { a: { type: ["number", "null"], minimum: 0, maximum: 2 }, list: { maxItems: 3, items: { $ref: "#/$defs/one" } } },
    $defs: { one: { type: "string", maxLength: 2, enum: ["x", "🦙🦙", "abc"] } },
  };
  const places = [
    [{ a: null }, null], [{ a: 2, list: ["x", "🦙🦙"], more: 1 }, null], [[], ""], [{}, ".a"], [{ a: true }, ".a"],
    [{ a: -1 }, ".a"], [{ a: 3 }, ".a"], [{ a: 0, list: ["x", "y"] }, ".list[1]"], [{ a: 0, list: ["abc"] }, ".list[0]"],
    // A list that is too long is not looked into.
    [{ a: 0, list: [1, 2, 3, 4] }, ".list"],
  ];
  for (const [value, place] of places) assert.equal(wrongPlace(value, schema), place, JSON.stringify(value));
  // What every object has of its own accord is no field.
  assert.equal(wrongPlace({}, { required: ["toString"] }), ".toString");
  assert.equal(wrongPlace({}, { properties: { toString: { type: "null" } } }), null);
});

const SAY_NOTHING = ["$schema", "$id", "$defs", "title", "description", "x-limits"];

function* schemasIn(schema) {
  yield schema;
  const { $defs = {}, properties = {}, items } = schema;
  for (const each of Object.values({ ...$defs, ...properties, ...(items && { items }) })) yield* schemasIn(each);
}

test("the schemas of a trace and of a race say nothing that is passed over", () => {
  for (const root of [traceSchema, raceSchema]) {
    for (const { $ref = null, ...schema } of schemasIn(root)) {
      assert.deepEqual(Object.keys(schema).filter((name) => !SAY_NOTHING.includes(name) && !KEYWORDS[name]), []);
      assert.ok($ref === null || root.$defs[$ref.replace("#/$defs/", "")], $ref);
    }
  }
});

test("long work goes on within a slice, and after it others have a turn", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const pace = createPacer();
  // Whether others have a turn while the work pauses at each of these milliseconds.
  const letOthers = async (...times) => {
    let isTheirTurn = false;
    setImmediate(() => { isTheirTurn = true; });
    for (now of times) await pace();
    return isTheirTurn;
  };
  assert.deepEqual([await letOthers(1, 4, 7), await letOthers(9, 18, 27), await letOthers(34)], [false, true, false]);
});
