// The head of the course: where the reader is, the list of all lessons, the glossary; and the summary at its end.

import { button, drawer, el, setText, textButton } from "../visualizer/dom.js";
import { MARKS } from "../visualizer/words.js";
import { createHandIn } from "./progress.js";
import { linkNode } from "./texts.js";

export const timeOf = (lessons) => `about ${lessons.reduce((sum, { minutes }) => sum + minutes, 0)} min`;

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
      setText(state, `${lesson.minutes} min · ${progress.words(lesson)}`);
    },
  };
}

export function createHead(lessons, terms, { progress, open, play }) {
  const summary = el("summary");
  const segments = lessons.map(() => el("span", { class: "dl-segment" }, el("span")));
  const closing = (act) => () => {
    contents.open = false;
    act();
  };
  const buttons = lessons.map((lesson, index) => lessonButton(lesson, closing(() => open(index, 0))));
  const list = el("div", {},
    el("div", { class: "dl-play" }, textButton("Guess yourself", closing(play)), "A game."),
    el("p", { class: "dl-note dl-time" }, `${lessons.length} lessons, ${timeOf(lessons)}.`), el("ol", {}, ...itemsOf(buttons)),
    createHandIn(lessons, progress));
  const contents = listOver("dl-contents", summary, list);
  const glossary = listOver("dl-glossary", el("summary", {}, "Glossary"), el("dl", {}, ...terms));
  glossary.hidden = !terms.length;
  const node = el("header", { class: "dl-head" },
    el("div", { class: "dl-segments", "aria-hidden": "true" }, ...segments), el("div", { class: "dl-drawers" }, contents, glossary));
  return {
    node,
    draw(current) {
      const lesson = lessons[current];
      setText(summary, lesson ? `Lesson ${current + 1} of ${lessons.length}: ${lesson.title}` : "All lessons");
      lessons.forEach((each, index) => {
        Object.assign(segments[index].dataset, { done: progress.isDone(each), current: index === current });
        segments[index].firstChild.style.width = `${100 * progress.share(each)}%`;
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
    : `${done} of ${lessons.length} lessons are done. A lesson is done when you have seen all its pages and answered its questions. The list shows what is left.`;
  const links = [
    ["Guess yourself", "learn&draft=9", "Guess in the small model's place, eight times."], ["Live", "live", "Watch a run of your own prompt."],
    ["Compare", "compare", "Race two methods on this machine."], ["Lab", "lab", "See when guessing pays, and the paper's tables measured again."]];
  const words = [
    el("h3", { tabindex: "-1" }, "The end of the course"), el("p", {}, said),
    el("ul", {}, ...links.map(([name, tab, about]) => el("li", {}, linkNode(name, `#tab=${tab}`), `: ${about}`))),
    el("div", { class: "dl-tools" }, textButton("Begin again", () => open(0, 0))), createHandIn(lessons, progress),
  ];
  return { words, list: el("ol", { class: "dl-summary", "aria-label": "Lessons" }, ...itemsOf(buttons)) };
}
