// Tests of json_schema.js: what each keyword asks, and that duoviz's schemas use no other.

import assert from "node:assert/strict";
import test from "node:test";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };
import { isObject, KEYWORDS, wrongPlace } from "./json_schema.js";

// Of a schema: values that are as it says, and others that are not, all of them at the place "".
const ASKED = {
  "null": [{ type: "null" }, [null], [0, false, ""]],
  "boolean": [{ type: "boolean" }, [true, false], [0, 1, null, "true"]],
  "integer": [{ type: "integer" }, [0, -3, 3.0, 1e30], [0.5, true, null, "3", NaN]],
  "number": [{ type: "number" }, [0, -0.5, 1e30], [true, null, "3", NaN, Infinity]],
  "string": [{ type: "string" }, ["", "x"], [0, null, ["x"]]],
  "array": [{ type: "array" }, [[], [1]], [{}, "x", null]],
  "object": [{ type: "object" }, [{}, { a: 1 }], [[], "x", null]],
  "one of two types": [{ type: ["object", "null"] }, [{}, null], [[], 0]],
  "enum": [{ enum: ["a", 1, null] }, ["a", 1, null], ["b", "1", undefined, {}]],
  "minimum": [{ minimum: -1 }, [-1, 0, "x", null], [-1.5]],
  "maximum": [{ maximum: 1.5 }, [1.5, -9, "x", []], [2]],
  "maxLength": [{ maxLength: 2 }, ["", "ab", "🦙🦙", "\ud800🦙", 123], ["abc", "🦙🦙🦙", "a🦙b", "x".repeat(9)]],
  "maxItems": [{ maxItems: 1 }, [[], [0], "abc"], [[0, 0]]],
  "all keywords": [{ type: "number", minimum: 0, maximum: 1 }, [0, 1], [-1, 2, "x"]],
};

for (const [name, [schema, right, wrong]] of Object.entries(ASKED)) {
  test(name, () => {
    for (const value of right) assert.equal(wrongPlace(value, schema), null, JSON.stringify(value));
    for (const value of wrong) assert.equal(wrongPlace(value, schema), "", JSON.stringify(value));
  });
}

test("fields", () => {
  const fields = { a: { type: "null" }, c: { type: "null" } };
  const schema = { type: "object", required: ["a", "b"], properties: fields };
  const places = [
    [{ a: null, b: 1, other: 2 }, null], [{ b: 1 }, ".a"], [{ a: null }, ".b"], [{ a: 1, b: 1 }, ".a"],
    [{ a: null, b: 1, c: 0 }, ".c"], [[], ""],
  ];
  for (const [value, place] of places) assert.equal(wrongPlace(value, schema), place);
  assert.equal(wrongPlace("no object", { required: ["a"], properties: { a: {} } }), null);
});

test("what every object has of its own accord is no field", () => {
  assert.equal(wrongPlace({}, { required: ["toString"] }), ".toString");
  assert.equal(wrongPlace({}, { properties: { toString: { type: "null" } } }), null);
});

test("what is in lists", () => {
  const schema = { maxItems: 3, items: { properties: { a: { type: "array", items: { type: "null" } } } } };
  assert.equal(wrongPlace([{}, { a: [null] }, 1], schema), null);
  assert.equal(wrongPlace([{}, { a: [null, 0] }], schema), "[1].a[1]");
  assert.equal(wrongPlace([{ a: 0 }, {}, {}, {}], schema), "", "a list that is too long is not looked into");
  assert.equal(wrongPlace("no list", schema), null);
});

test("definitions", () => {
  const schema = { $ref: "#/$defs/pair", $defs: { pair: { items: { $ref: "#/$defs/one" } }, one: { type: "number" } } };
  assert.equal(wrongPlace([1, "2"], schema), "[1]");
  assert.equal(wrongPlace("2", schema.$defs.one, schema.$defs), "");
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
      assert.ok($ref === null || isObject(root.$defs[$ref.replace("#/$defs/", "")]), $ref);
    }
  }
});
