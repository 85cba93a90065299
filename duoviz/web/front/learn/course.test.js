// Tests of course.js and progress.js: from page to page, where a link leads, how far the reader has come, and answers.

import assert from "node:assert/strict";
import test from "node:test";
import { placeIn, stepFrom } from "./course.js";
import { answersText, createProgress, questionsText } from "./progress.js";

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

test("where a link leads; what is no page is the first", () => {
  const led = {
    "#tab=learn&lesson=why&page=2": at(0, 1), "#lesson=why": at(0, 0), "#lesson=why&page=99": at(0, 1),
    "?lesson=how": at(1, 0), "?lesson=why&page=2#lesson=how": at(1, 0), "?lesson=how&page=2#lesson=why": at(0, 1),
    "": null, "#heading": null, "#lesson=": null, "#lesson=nowhere&page=1": null,
    ...Object.fromEntries(["0", "-1", "1.5", "two", ""].map((page) => [`#lesson=why&page=${page}`, at(0, 0)])),
  };
  for (const [link, place] of Object.entries(led)) {
    const { hash, search } = new URL(link, "http://page/");
    assert.deepEqual(placeIn(LESSONS, { hash, search }), place, link);
  }
});

test("a lesson is done when its pages are seen and its question is answered; the browser keeps that, and all answers", (context) => {
  const LESSON = { name: "why", title: "Why", pages: [{}, { question: { text: "How many?" } }, {}] };
  const kept = new Map();
  const setItem = (name, text) => kept.set(name, text);
  globalThis.localStorage = { getItem: (name) => kept.get(name) ?? null, setItem };
  context.after(() => { delete globalThis.localStorage; });
  let told = 0;
  const progress = createProgress(() => { told += 1; });
  const state = ({ words, next, isDone } = progress) => [words(LESSON), next(LESSON), isDone(LESSON)];
  assert.deepEqual(state(), ["not started", 0, false]);
  progress.see(LESSON, 0);
  progress.see(LESSON, 0);
  assert.deepEqual(state(), ["1 of 3 pages", 1, false], "a page that is seen twice counts once");
  assert.equal(progress.share(LESSON), 1 / 3);
  for (const page of [1, 2]) progress.see(LESSON, page);
  assert.deepEqual(state(), ["question open", 1, false]);
  const head = (numbers) => `My answers in the course of duoviz: ${numbers}.\n\n1. Why\nHow many?\n→ `;
  const answers = (of = progress) => answersText([LESSON], of, String);
  assert.equal(answers(), `${head("0 of 1 right, 0 at the first try")}open`);
  progress.answer(LESSON, 1, "six", false);
  assert.deepEqual(state(), ["question open", 1, false]);
  assert.equal(answers(), `${head("0 of 1 right, 0 at the first try")}open after 1 try, the last: six`);
  for (const [said, right] of [["7", true], ["eight", false]]) progress.answer(LESSON, 1, said, right);
  assert.deepEqual(state(), ["done", 0, true]);
  assert.equal(told, 7);
  const next = createProgress(() => {});
  assert.deepEqual(state(next), ["done", 0, true], "at the next visit");
  assert.equal(answers(next), `${head("1 of 1 right, 0 at the first try")}right after 2 tries: 7`);
  for (const text of ["", "no JSON", "null", "{}"]) {
    for (const name of kept.keys()) kept.set(name, text);
    assert.equal(createProgress(() => {}).words(LESSON), "not started");
  }
});

test("a worksheet has every question and the exercises on paper, each with the link to its page", () => {
  const options = [{ html: "One" }, { html: "Two" }];
  const pages = [
    { title: "First", text: "Read." }, { title: "Second", text: "Read.", question: { text: "How many?", options } },
    { title: "On paper", text: "Show it.", question: null },
  ];
  const sheet = questionsText([{ title: "Why", pages }], (lesson, page) => `#${lesson.title}-${page + 1}`, String);
  assert.deepEqual(sheet.split("\n\n"), [
    "Questions of the course of duoviz", "1. Why: Second (#Why-2)\nHow many?\n[ ] One\n[ ] Two", "1. Why: On paper (#Why-3)\nShow it.",
  ]);
});
