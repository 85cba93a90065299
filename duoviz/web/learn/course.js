// The course: lessons of pages, each beside the visualizer. `mountCourse(root, course, options)` shows it.

import { el, setText, textButton } from "../visualizer/dom.js";
import { blockNodes, linkNode } from "./spans.js";
import { createGlossary } from "./glossary.js";
import { createQuestion } from "./question.js";
import { createStage } from "./stage.js";
import { FIGURES } from "./figures.js";
import { limitControls, placeOf } from "./place.js";

function mistakeList(mistakes) {
  const items = mistakes.map((mistake) => el("li", {}, mistake));
  const node = el("div", { class: "dl-mistakes", role: "status" },
    el("p", {}, "What has a mistake is left out:"), el("ul", {}, ...items));
  node.hidden = !mistakes.length;
  return node;
}

function contentsOf(lessons, open) {
  const summary = el("summary");
  const items = lessons.map(({ title, summary: words }, index) => {
    const button = el("button", { type: "button", class: "dl-lesson" }, el("b", {}, title), el("span", {}, words));
    button.addEventListener("click", () => {
      node.open = false;
      open(index, 0);
    });
    return el("li", {}, button);
  });
  const node = el("details", { class: "dl-contents" }, summary, el("ol", {}, ...items));
  return {
    node,
    mark(current) {
      setText(summary, `Lesson ${current + 1} of ${lessons.length}. All lessons`);
      items.forEach((item, index) => item.firstChild.setAttribute("aria-current", index === current ? "step" : "false"));
    },
  };
}

// What to look at in the visualizer: each name goes there.
function lookLine(look, stage) {
  const buttons = look.map(({ name, part }) => textButton(name, () => stage.part(part).scrollIntoView({ block: "center" })));
  const node = el("p", { class: "dl-look" }, "Look at: ", ...buttons);
  node.hidden = !look.length;
  return node;
}

function liveBox(lesson) {
  const node = el("div", { class: "dl-live" }, linkNode("Try it live", lesson.live ?? "#tab=live", { class: "dv-button dv-button-text" }),
    el("span", { class: "dl-note" }, "The Live tab opens with this lesson's settings. Then press Generate."));
  node.hidden = !lesson.live;
  return node;
}

// leave: to be called when the page is left.
function drawPage(lesson, page, { stage, glossary }) {
  const figure = page.figure && FIGURES[page.figure.kind](page.figure);
  const question = page.question && createQuestion(page.question, { stage, figure, glossary });
  const nodes = [
    el("p", { class: "dl-lesson-title" }, lesson.title), el("h3", { tabindex: "-1" }, page.title), lookLine(page.look, stage),
    ...(page.missing ? [el("p", { class: "dl-missing" }, page.missing)] : blockNodes(page.blocks, glossary)),
    ...(figure ? [el("div", { class: "dl-figure", "data-figure": page.figure.kind }, figure.node)] : []),
    ...(question ? [question.node] : []),
  ];
  return { nodes, leave: question ? question.stop : () => {} };
}

// options: fetchTrace as in stage.js; moved: called with {lesson, page} when the reader goes on, both as in a link.
export function mountCourse(root, { lessons, glossary: terms, mistakes }, { fetchTrace, moved }) {
  const stage = createStage(fetchTrace);
  const glossary = createGlossary(terms);
  const contents = contentsOf(lessons, (lesson, page) => turnTo(lesson, page));
  const body = el("div", { class: "dl-body" });
  const [back, next] = [textButton("Back", () => go(-1)), textButton("Next", () => go(1))];
  const progress = el("span", { class: "dl-progress" });
  const card = el("article", { class: "dl-card", "aria-label": "Lesson" }, contents.node, body, el("div", { class: "dl-pages" }, back, progress, next), glossary.node);
  let at = { lesson: 0, page: 0 }, leave = () => {};

  const draw = () => {
    const [lesson, page] = [lessons[at.lesson], lessons[at.lesson].pages[at.page]];
    leave();
    const last = at.page === lesson.pages.length - 1;
    const drawn = drawPage(lesson, page, { stage, glossary });
    leave = drawn.leave;
    body.replaceChildren(...drawn.nodes, ...(last ? [liveBox(lesson)] : []));
    contents.mark(at.lesson);
    setText(progress, `Page ${at.page + 1} of ${lesson.pages.length}`);
    setText(next, last && at.lesson < lessons.length - 1 ? "Next lesson" : "Next");
    back.disabled = !at.lesson && !at.page;
    next.disabled = last && at.lesson === lessons.length - 1;
    root.dataset.lesson = lesson.name;
    root.dataset.page = at.page + 1;
    return stage.show(page);
  };
  const bring = () => stage.bringIntoView(lessons[at.lesson].pages[at.page]);
  const turnTo = (lesson, page) => {
    at = { lesson, page };
    draw().then(bring);
    body.querySelector("h3").focus({ preventScroll: true });
    card.scrollTop = 0;
    if (card.getBoundingClientRect().top < 0) card.scrollIntoView();
    moved({ lesson: lessons[lesson].name, page: page + 1 });
  };
  const go = (by) => {
    const { lesson, page } = at;
    if (lessons[lesson].pages[page + by]) turnTo(lesson, page + by);
    else if (lessons[lesson + by]) turnTo(lesson + by, by > 0 ? 0 : lessons[lesson + by].pages.length - 1);
  };
  // Where a link leads; null for one that leads to no lesson.
  const found = (place) => {
    const lesson = lessons.findIndex(({ name }) => name === place.lesson);
    return lesson < 0 ? null : { lesson, page: Math.min(place.page, lessons[lesson].pages.length) - 1 };
  };

  root.classList.add("dl");
  if (!lessons.length) return root.replaceChildren(mistakeList(mistakes), el("p", {}, "There is no lesson to show."));
  const opened = placeOf(location);
  root.replaceChildren(mistakeList([...mistakes, ...limitControls(root, opened.controls)]), card, stage.node);
  const place = found(opened);
  at = place ?? at;
  draw().then(() => { if (place) bring(); });
  addEventListener("hashchange", () => {
    const to = found(placeOf(location));
    if (to) turnTo(to.lesson, to.page);
  });
}
