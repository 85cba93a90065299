// Tests of place.js: where in the course a link leads.

import assert from "node:assert/strict";
import test from "node:test";
import { placeOf } from "./place.js";

const NOWHERE = { lesson: null, page: 1 };

test("a lesson and a page", () => {
  assert.deepEqual(placeOf({ hash: "#tab=learn&lesson=why&page=3", search: "" }), { lesson: "why", page: 3 });
  assert.deepEqual(placeOf({ hash: "#lesson=why", search: "" }), { lesson: "why", page: 1 });
});

test("the fragment comes before the query, each name by itself", () => {
  assert.deepEqual(placeOf({ hash: "", search: "?lesson=why&page=2" }), { lesson: "why", page: 2 });
  assert.deepEqual(placeOf({ hash: "#lesson=how", search: "?lesson=why&page=2" }), { lesson: "how", page: 2 });
});

test("what is no page is the first", () => {
  for (const page of ["0", "-1", "1.5", "two", ""]) {
    assert.deepEqual(placeOf({ hash: `#lesson=why&page=${page}`, search: "" }), { lesson: "why", page: 1 });
  }
  assert.deepEqual(placeOf({ hash: "", search: "" }), NOWHERE);
  assert.deepEqual(placeOf({ hash: "#heading", search: "" }), NOWHERE);
});
