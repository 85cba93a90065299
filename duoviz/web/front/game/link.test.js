// Tests of link.js: a link to rounds is one that the page's own reader of links knows.

import assert from "node:assert/strict";
import test from "node:test";
import { viewOfFragment } from "../share/link.js";
import { fragmentTo, leadsToLesson, newSeed, seedIn } from "./link.js";

const LESSON = { kind: "choice", default: "", choices: ["", "one"] };
const PAGES = { live: { fields: {} }, learn: { fields: { lesson: LESSON } } };
const WRONG = ["", "#tab=learn", "#draft=", "#draft=x", "#draft=-1", "#draft=1.5", "#draft=1000001", "#draft=1e3"];

test("a seed comes back from its link, which leads to the course", () => {
  assert.equal(fragmentTo(7), "#tab=learn&draft=7");
  for (const seed of [0, 7, 1_000_000, newSeed()]) {
    assert.equal(seedIn(fragmentTo(seed)), seed);
    const { view, problem } = viewOfFragment(fragmentTo(seed), PAGES);
    assert.deepEqual([view.tab, view.draft, problem], ["learn", seed, ""]);
  }
});

test("what is no seed begins no game", () => {
  for (const hash of WRONG) assert.equal(seedIn(hash), null);
  const problemOf = (fragment) => viewOfFragment(fragment, PAGES).problem;
  assert.equal(problemOf("#tab=learn&draft=x"), `Ignored in this link: "draft" (not a whole number).`);
  assert.equal(problemOf("#tab=live&draft=7"), `Ignored in this link: "draft" (unknown here).`);
});

test("a link to a lesson is known", () => {
  assert.ok(leadsToLesson("#tab=learn&lesson=one&page=2"));
  assert.ok(!leadsToLesson("#tab=learn"));
});
