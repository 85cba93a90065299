// Tests of course.js: from page to page, and where a link leads.

import assert from "node:assert/strict";
import test from "node:test";
import { placeIn, stepFrom } from "./course.js";

const LESSONS = [{ name: "why", pages: [{}, {}] }, { name: "how", pages: [{}] }];
const at = (lesson, page) => ({ lesson, page });

test("forwards through all pages, to the course's end, and back by the same way", () => {
  const all = [at(0, 0), at(0, 1), at(1, 0), at(2, 0)];
  for (const [by, expected] of [[1, all], [-1, all.toReversed()]]) {
    const places = [expected[0]];
    for (let next; (next = stepFrom(LESSONS, places.at(-1), by));) places.push(next);
    assert.deepEqual(places, expected);
  }
});

test("where a link leads", () => {
  const led = {
    "#tab=learn&lesson=why&page=2": at(0, 1), "#lesson=why": at(0, 0), "#lesson=why&page=99": at(0, 1),
    "?lesson=how": at(1, 0), "?lesson=why&page=2#lesson=how": at(1, 0), "?lesson=how&page=2#lesson=why": at(0, 1),
    "": null, "#heading": null, "#lesson=": null, "#lesson=nowhere&page=1": null,
  };
  for (const [link, place] of Object.entries(led)) {
    const { hash, search } = new URL(link, "http://page/");
    assert.deepEqual(placeIn(LESSONS, { hash, search }), place, link);
  }
});

test("what is no page is the first", () => {
  for (const page of ["0", "-1", "1.5", "two", ""]) {
    assert.deepEqual(placeIn(LESSONS, { hash: `#lesson=why&page=${page}` }), at(0, 0));
  }
});
