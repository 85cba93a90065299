// How far a reader has come, which the browser keeps: the pages seen, and what was answered; and the answers as text.

import { el } from "../visualizer/dom.js";
import { copyTools } from "../visualizer/export.js";
import { remember, remembered } from "../visualizer/remembered.js";
import { count } from "../visualizer/words.js";
import { plainText } from "./texts.js";

const KEY = "duoviz lessons";

function kept() {
  try {
    const { seen, answers } = JSON.parse(remembered(KEY));
    return { seen: new Set(seen), answers: new Map(answers) };
  } catch {
    // Nothing yet.
    return { seen: new Set(), answers: new Map() };
  }
}

const NO_ANSWER = { tries: 0, said: "", right: false };

// An answer: how many `tries`, and what was `said` last, which is `right` or not.
export function createProgress(told) {
  const { seen, answers } = kept();
  const keyOf = (lesson, page) => `${lesson.name}/${page + 1}`;
  const keep = () => {
    remember(KEY, JSON.stringify({ seen: [...seen], answers: [...answers] }));
    told();
  };
  const answerTo = (lesson, page) => answers.get(keyOf(lesson, page)) ?? NO_ANSWER;
  const seenOf = (lesson) => lesson.pages.filter((page, index) => seen.has(keyOf(lesson, index))).length;
  const isOpen = (lesson) => ({ question }, index) => (
    !seen.has(keyOf(lesson, index)) || (question && !answerTo(lesson, index).right)
  );
  return {
    answerTo,
    see(lesson, page) {
      seen.add(keyOf(lesson, page));
      keep();
    },
    // What is tried after the right answer is not counted.
    answer(lesson, page, said, right) {
      const { tries, right: isDone } = answerTo(lesson, page);
      if (!isDone) answers.set(keyOf(lesson, page), { tries: tries + 1, said, right });
      keep();
    },
    share: (lesson) => seenOf(lesson) / lesson.pages.length,
    isDone: (lesson) => !lesson.pages.some(isOpen(lesson)),
    next: (lesson) => Math.max(0, lesson.pages.findIndex(isOpen(lesson))),
    words(lesson) {
      const [number, all] = [seenOf(lesson), lesson.pages.length];
      if (!number) return "not started";
      if (number < all) return `${number} of ${all} pages`;
      return lesson.pages.some(isOpen(lesson)) ? "question open" : "done";
    },
  };
}

function answerWords({ tries, said, right }) {
  if (!tries) return "open";
  if (!right) return `open after ${count(tries, "try", "tries")}, the last: ${said}`;
  return `right ${tries === 1 ? "at the first try" : `after ${tries} tries`}: ${said}`;
}

// plain: gives the words of HTML.
export function answersText(lessons, progress, plain = plainText) {
  const found = lessons.flatMap((lesson, number) => lesson.pages.flatMap(({ question }, page) => (
    question ? [{ title: `${number + 1}. ${lesson.title}`, asked: plain(question.text), answer: progress.answerTo(lesson, page) }] : []
  )));
  const right = found.filter(({ answer }) => answer.right);
  const first = right.filter(({ answer }) => answer.tries === 1).length;
  const head = `My answers in the course of duoviz: ${right.length} of ${found.length} right, ${first} at the first try.`;
  const parts = found.map(({ title, asked, answer }) => `${title}\n${asked}\n→ ${answerWords(answer)}`);
  return [head, ...parts].join("\n\n");
}

// A page of this title has exercises in its text.
const ON_PAPER = "On paper";

// What is asked, as a worksheet. linkTo: gives the link to a lesson's page.
export function questionsText(lessons, linkTo, plain = plainText) {
  const parts = lessons.flatMap((lesson, number) => lesson.pages.flatMap(({ title, text, question }, page) => {
    if (!question && title !== ON_PAPER) return [];
    const answers = (question?.options ?? []).map(({ html }) => `[ ] ${plain(html)}`);
    const where = `${number + 1}. ${lesson.title}: ${title} (${linkTo(lesson, page)})`;
    return [[where, plain(question?.text ?? text), ...answers].join("\n")];
  }));
  return ["Questions of the course of duoviz", ...parts].join("\n\n");
}

const pageAt = (lesson, page) => `${location.href.split("#")[0]}#tab=learn&lesson=${lesson.name}&page=${page + 1}`;

export function createHandIn(lessons, progress) {
  const field = el("textarea", { "class": "dl-copied", "readonly": "", "rows": 6, "aria-label": "My answers" });
  const mine = copyTools("Copy my answers", field, () => answersText(lessons, progress), "Copied. Paste it into a mail.");
  const sheet = copyTools("Copy the questions", field, () => questionsText(lessons, pageAt), "Copied. Paste it into a document.");
  return el("div", { class: "dl-hand-in" }, mine.button, " For a teacher: each question and your answer, as text. Nothing is sent.", mine.told,
    sheet.button, " For a class: a worksheet, with links to the pages.", sheet.told, field);
}
