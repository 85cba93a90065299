// The head of the course: where the reader is, the list of all lessons, the glossary; and the summary at its end.

import { button, drawer, el, setText, textButton } from "../visualizer/dom.js";
import { remember, remembered } from "../visualizer/remembered.js";
import { MARKS } from "../visualizer/words.js";
import { linkNode } from "./texts.js";

const PROGRESS_KEY = "duoviz lessons";

function keptProgress() {
  try {
    const { seen, right } = JSON.parse(remembered(PROGRESS_KEY));
    return { seen: new Set(seen), right: new Set(right) };
  } catch {
    // Nothing yet.
    return { seen: new Set(), right: new Set() };
  }
}

export function createProgress(told) {
  const { seen, right } = keptProgress();
  const keyOf = (lesson, page) => `${lesson.name}/${page + 1}`;
  const add = (set, lesson, page) => {
    set.add(keyOf(lesson, page));
    remember(PROGRESS_KEY, JSON.stringify({ seen: [...seen], right: [...right] }));
    told();
  };
  const seenOf = (lesson) => lesson.pages.filter((page, index) => seen.has(keyOf(lesson, index))).length;
  const isOpen = (lesson) => ({ question }, index) => (
    !seen.has(keyOf(lesson, index)) || (question && !right.has(keyOf(lesson, index)))
  );
  return {
    see: (lesson, page) => add(seen, lesson, page),
    answer: (lesson, page) => add(right, lesson, page),
    share: (lesson) => seenOf(lesson) / lesson.pages.length,
    isDone: (lesson) => !lesson.pages.some(isOpen(lesson)),
    next: (lesson) => Math.max(0, lesson.pages.findIndex(isOpen(lesson))),
    words(lesson) {
      const [count, all] = [seenOf(lesson), lesson.pages.length];
      if (!count) return "not started";
      if (count < all) return `${count} of ${all} pages`;
      return lesson.pages.some(isOpen(lesson)) ? "question open" : "done";
    },
  };
}

const listOver = (name, summary, list) => drawer(`dl-drawer ${name}`, summary, el("div", { class: "dl-panel" }, list));

const itemsOf = (parts) => parts.map(({ node }) => el("li", {}, node));

// open: called with the number of a lesson and of a page, both from 0.
function lessonButton(lesson, open) {
  const [mark, state] = [el("span", { class: "dl-mark", "aria-hidden": "true" }), el("span", { class: "dl-state" })];
  const about = el("span", { class: "dl-about" }, lesson.summary);
  const node = button({ class: "dl-lesson" }, open, mark, el("b", {}, lesson.title), state, about);
  return {
    node,
    draw(progress) {
      const isDone = progress.isDone(lesson);
      node.dataset.done = isDone;
      setText(mark, isDone ? MARKS.accepted : MARKS.pending);
      setText(state, progress.words(lesson));
    },
  };
}

export function createHead(lessons, terms, open, play) {
  const summary = el("summary");
  const segments = lessons.map(() => el("span", { class: "dl-segment" }, el("span")));
  const buttons = lessons.map((lesson, index) => lessonButton(lesson, () => {
    contents.open = false;
    open(index, 0);
  }));
  const game = textButton("You be the draft", () => {
    contents.open = false;
    play();
  });
  const list = el("ol", {}, ...itemsOf(buttons));
  const contents = listOver("dl-contents", summary, el("div", {}, el("div", { class: "dl-play" }, game, "A game."), list));
  const glossary = listOver("dl-glossary", el("summary", {}, "Glossary"), el("dl", {}, ...terms));
  glossary.hidden = !terms.length;
  const node = el("header", { class: "dl-head" },
    el("div", { class: "dl-segments", "aria-hidden": "true" }, ...segments), el("div", { class: "dl-drawers" }, contents, glossary));
  return {
    node,
    draw(current, progress) {
      setText(summary, current < lessons.length ? `Lesson ${current + 1} of ${lessons.length}: ${lessons[current].title}` : "All lessons");
      lessons.forEach((lesson, index) => {
        Object.assign(segments[index].dataset, { done: progress.isDone(lesson), current: index === current });
        segments[index].firstChild.style.width = `${100 * progress.share(lesson)}%`;
        buttons[index].draw(progress);
        buttons[index].node.setAttribute("aria-current", index === current ? "step" : "false");
      });
    },
  };
}

export function createSummary(lessons, progress, open) {
  const done = lessons.filter((lesson) => progress.isDone(lesson)).length;
  const buttons = lessons.map((lesson, index) => lessonButton(lesson, () => open(index, progress.next(lesson))));
  for (const each of buttons) each.draw(progress);
  const said = done === lessons.length ? `All ${done} lessons are done: every page seen, every question answered.`
    : `${done} of ${lessons.length} lessons are done. A lesson is done when you have seen all its pages and answered its question. The list shows what is left.`;
  const links = [
    ["You be the draft", "learn&draft=6", "Guess in the draft's place, eight times."], ["Live", "live", "Watch a run of your own prompt."],
    ["Compare", "compare", "Race two methods on this machine."], ["Lab", "lab", "See when guessing pays, and the paper's tables measured again."]];
  const words = [
    el("h3", { tabindex: "-1" }, "The end of the course"), el("p", {}, said),
    el("ul", {}, ...links.map(([name, tab, about]) => el("li", {}, linkNode(name, `#tab=${tab}`), `: ${about}`))),
    el("div", { class: "dl-tools" }, textButton("Begin again", () => open(0, 0))),
  ];
  return { words, list: el("ol", { class: "dl-summary", "aria-label": "Lessons" }, ...itemsOf(buttons)) };
}
