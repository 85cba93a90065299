// Tests of json_schema.js: what each keyword asks, and that no other is passed over.

import assert from "node:assert/strict";
import test from "node:test";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };
import { compile } from "./json_schema.js";

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
  "one of three types": [{ type: ["object", "string", "null"] }, [{}, "x", null], [[], 0]],
  "enum": [{ enum: ["a", 1, null] }, ["a", 1, null], ["b", "1", undefined, {}]],
  "const": [{ const: 1 }, [1, 1.0], ["1", true, 2]],
  "minimum": [{ minimum: -1 }, [-1, 0, "x", null], [-1.5]],
  "maximum": [{ maximum: 1.5 }, [1.5, -9, "x", []], [2]],
  "minLength": [{ minLength: 2 }, ["ab", "🦙🦙", 1], ["", "a", "🦙"]],
  "maxLength": [{ maxLength: 2 }, ["", "ab", "🦙🦙", "\ud800🦙", 123], ["abc", "🦙🦙🦙", "a🦙b", "x".repeat(9)]],
  "minItems": [{ minItems: 1 }, [[0], "", {}], [[]]],
  "maxItems": [{ maxItems: 1 }, [[], [0], "abc"], [[0, 0]]],
  "all keywords": [{ type: "number", minimum: 0, maximum: 1 }, [0, 1], [-1, 2, "x"]],
  "nothing": [{ title: "All", description: "All there is.", examples: [1] }, [1, null, {}, []], []],
};

for (const [name, [schema, right, wrong]] of Object.entries(ASKED)) {
  test(name, () => {
    const check = compile(schema);
    for (const value of right) assert.equal(check(value), null, JSON.stringify(value));
    for (const value of wrong) assert.equal(check(value), "", JSON.stringify(value));
  });
}

test("fields", () => {
  const fields = { a: { type: "null" }, c: { type: "null" } };
  const check = compile({ type: "object", required: ["a", "b"], properties: fields });
  assert.equal(check({ a: null, b: 1, other: 2 }), null);
  assert.equal(check({ b: 1 }), ".a");
  assert.equal(check({ a: null }), ".b");
  assert.equal(check({ a: 1, b: 1 }), ".a");
  assert.equal(check({ a: null, b: 1, c: 0 }), ".c");
  assert.equal(check([]), "");
  assert.equal(compile({ required: ["a"], properties: { a: {} } })("no object"), null);
});

test("what every object has of its own accord is no field", () => {
  assert.equal(compile({ required: ["toString"] })({}), ".toString");
  assert.equal(compile({ properties: { toString: { type: "null" } } })({}), null);
});

test("what is in lists", () => {
  const check = compile({ maxItems: 3, items: { properties: { a: { type: "array", items: { type: "null" } } } } });
  assert.equal(check([{}, { a: [null] }, 1]), null);
  assert.equal(check([{}, { a: [null, 0] }]), "[1].a[1]");
  assert.equal(check([{ a: 0 }, {}, {}, {}]), "", "a list that is too long is not looked into");
  assert.equal(check("no list"), null);
});

test("definitions", () => {
  const schema = { $ref: "#/$defs/pair", $defs: { pair: { items: { $ref: "#/$defs/one" } }, one: { type: "number" } } };
  assert.equal(compile(schema)([1, "2"]), "[1]");
  assert.equal(compile(schema, schema.$defs.one)("2"), "");
  assert.equal(compile({ $defs: schema.$defs, $ref: "#/$defs/one", maximum: 1 })(2), "", "beside others");
});

test("what is not read here throws", () => {
  const schemas = [
    { pattern: "x" }, { items: { uniqueItems: true } }, { properties: { a: { anyOf: [] } } }, { items: true },
    { type: "text" }, { type: ["null", "text"] }, { $ref: "#/$defs/none" }, { $ref: "other.json", $defs: { other: {} } },
    { $ref: "#/$defs/a", $defs: { a: { format: "date" } } }, { toString: 1 },
  ];
  for (const schema of schemas) {
    assert.throws(() => compile(schema), /which is not read here|undefined/, JSON.stringify(schema));
  }
});

test("the schemas of a trace and of a race are read", () => {
  assert.equal(compile(traceSchema)({}), ".header");
  assert.equal(compile(raceSchema)({}), ".schema");
});
