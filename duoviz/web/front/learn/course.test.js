// Tests of course.js: from page to page, and where a link leads.

import assert from "node:assert/strict";
import test from "node:test";
import { placeIn, stepFrom } from "./course.js";

const LESSONS = [{ name: "why", pages: [{}, {}] }, { name: "how", pages: [{}] }];
const at = (lesson, page) => ({ lesson, page });

test("forwards through all pages, to the course's end", () => {
  const places = [at(0, 0)];
  while (stepFrom(LESSONS, places.at(-1), 1)) places.push(stepFrom(LESSONS, places.at(-1), 1));
  assert.deepEqual(places, [at(0, 0), at(0, 1), at(1, 0), at(2, 0)]);
});

test("and back by the same way", () => {
  const places = [at(2, 0)];
  while (stepFrom(LESSONS, places.at(-1), -1)) places.push(stepFrom(LESSONS, places.at(-1), -1));
  assert.deepEqual(places, [at(2, 0), at(1, 0), at(0, 1), at(0, 0)]);
});

test("a link counts pages from 1, and a page beyond the last is the last", () => {
  assert.deepEqual(placeIn(LESSONS, { lesson: "how", page: 1 }), at(1, 0));
  assert.deepEqual(placeIn(LESSONS, { lesson: "why", page: 2 }), at(0, 1));
  assert.deepEqual(placeIn(LESSONS, { lesson: "why", page: 99 }), at(0, 1));
});

test("a link to no lesson leads nowhere", () => {
  for (const lesson of [null, "", "nowhere"]) assert.equal(placeIn(LESSONS, { lesson, page: 1 }), null);
});
