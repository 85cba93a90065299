// Tests of progress.js: how far the reader has come, with and without a browser that keeps it.

import assert from "node:assert/strict";
import test from "node:test";
import { createProgress } from "./progress.js";

const LESSON = { name: "why", pages: [{}, { question: {} }, {}] };

function keep(value) {
  const kept = new Map(value === undefined ? [] : [["duoviz lessons", value]]);
  globalThis.localStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
  };
}

test.afterEach(() => { delete globalThis.localStorage; });

test("a lesson is done when its pages are seen and its question is answered", () => {
  let told = 0;
  const progress = createProgress(() => { told += 1; });
  const state = () => [progress.words(LESSON), progress.next(LESSON), progress.isDone(LESSON)];
  assert.deepEqual(state(), ["not started", 0, false]);
  progress.see(LESSON, 0);
  progress.see(LESSON, 0);
  assert.deepEqual(state(), ["1 of 3 pages", 1, false], "a page that is seen twice counts once");
  assert.equal(progress.share(LESSON), 1 / 3);
  progress.see(LESSON, 1);
  progress.see(LESSON, 2);
  assert.deepEqual(state(), ["question open", 1, false]);
  progress.answer(LESSON, 1);
  assert.deepEqual(state(), ["done", 0, true]);
  assert.equal(told, 5);
});

test("the browser keeps it for the next visit", () => {
  keep();
  createProgress(() => {}).see(LESSON, 2);
  assert.equal(createProgress(() => {}).words(LESSON), "1 of 3 pages");
});

test("what it kept and cannot be read is nothing", () => {
  for (const text of ["", "no JSON", "null", "{}"]) {
    keep(text);
    assert.equal(createProgress(() => {}).words(LESSON), "not started");
  }
});
