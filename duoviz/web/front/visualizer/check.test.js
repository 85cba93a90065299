// Test of check.js: duoviz's schemas ask no more than is checked; tests/web/front holds what the page refuses to what
// Python refuses.

import assert from "node:assert/strict";
import test from "node:test";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };

const SAY_NOTHING = ["$schema", "$id", "$defs", "title", "description", "x-limits"];
const CHECKED = ["type", "enum", "minimum", "maximum", "maxLength", "maxItems", "required", "properties", "items"];

function* schemasIn(schema) {
  yield schema;
  const { $defs = {}, properties = {}, items } = schema;
  for (const each of Object.values({ ...$defs, ...properties, ...(items && { items }) })) yield* schemasIn(each);
}

test("the schemas of a trace and of a race say nothing that is passed over", () => {
  for (const root of [traceSchema, raceSchema]) {
    for (const { $ref = null, ...schema } of schemasIn(root)) {
      const said = Object.keys(schema).filter((name) => !SAY_NOTHING.includes(name));
      // Beside a reference, only a type is.
      assert.deepEqual(said.filter((name) => !($ref === null ? CHECKED : ["type"]).includes(name)), []);
      assert.ok($ref === null || root.$defs[$ref.replace("#/$defs/", "")], $ref);
      assert.ok($ref !== null || schema.type || schema.enum, "no limit without a type");
    }
  }
});
