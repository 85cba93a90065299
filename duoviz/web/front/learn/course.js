// The course: lessons of pages, each beside what it is about. `mountCourse(root, course, options)` shows it.

import { button, el, setText, textButton } from "../visualizer/dom.js";
import { createHead, createSummary, timeOf } from "./contents.js";
import { FIGURES } from "./figures.js";
import { createProgress } from "./progress.js";
import { createQuestion } from "./question.js";
import { createStage } from "./stage.js";
import { createGlossary, htmlNode, linkNode } from "./texts.js";

let shown = null;

// Until it is closed, or the reader goes back by the link that leads to the lesson.
function tellWhatToWatch(words, lesson) {
  shown?.remove();
  const close = button({}, () => shown.remove(), "Close");
  const back = linkNode("Back to the lesson", lesson);
  back.addEventListener("click", () => shown.remove());
  shown = el("div", { class: "dl-watch", role: "status" }, el("span", {}, el("b", {}, "Watch: "), words), back, close);
  document.getElementById("ask").after(shown);
}

function mistakeList(mistakes) {
  const items = mistakes.map((mistake) => el("li", {}, mistake));
  const node = el("div", { class: "dl-mistakes", role: "status" },
    el("p", {}, "Lessons with mistakes are left out:"), el("ul", {}, ...items));
  node.hidden = !mistakes.length;
  return node;
}

function liveBox(lesson, back) {
  const link = linkNode("Try it live", lesson.live ?? "#tab=live", { class: "dv-button dv-button-text" });
  link.addEventListener("click", () => { if (lesson.watch) tellWhatToWatch(lesson.watch, back); });
  const watch = lesson.watch ? ` Watch: ${lesson.watch}` : "";
  const runs = lesson.live ? [`The Live tab opens and runs it with this lesson's settings.${watch} `] : [];
  const read = lesson.read.length ? ["Read more: ", htmlNode("span", lesson.read), "."] : [];
  const node = el("div", { class: "dl-live" }, link, el("span", { class: "dl-note" }, ...runs, ...read));
  link.hidden = !lesson.live;
  node.hidden = !runs.length && !read.length;
  return node;
}

function createPage(page, { stage, glossary, onAnswer }) {
  const figure = page.figure && FIGURES[page.figure.kind](page.figure);
  const question = page.question && createQuestion(page.question, { stage, figure, glossary }, onAnswer);
  const solution = page.solution ? [el("details", { class: "dl-drawer dl-solution" }, el("summary", {}, "Solution"), ...glossary.blocks(page.solution))] : [];
  return {
    words: [el("h3", { tabindex: "-1" }, page.title), ...glossary.blocks(page.text), ...solution], question: question ? [question.node] : [],
    figure: figure ? [el("div", { class: "dl-figure", "data-figure": page.figure.kind }, figure.node)] : [],
    leave: question ? question.stop : () => {},
  };
}

function fillWindow(root) {
  const fit = () => {
    if (root.checkVisibility()) root.style.setProperty("--dl-top", `${Math.round(root.getBoundingClientRect().top + scrollY)}px`);
  };
  new ResizeObserver(fit).observe(document.body);
  new IntersectionObserver(fit).observe(root);
}

// A place in the course: {lesson, page}, both counted from 0; at the course's end `lesson` is the number of lessons.
// The next place, or with −1 the one before; null where there is none.
export function stepFrom(lessons, { lesson, page }, by) {
  if (lessons[lesson]?.pages[page + by]) return { lesson, page: page + by };
  const other = lessons[lesson + by];
  if (other) return { lesson: lesson + by, page: by > 0 ? 0 : other.pages.length - 1 };
  return by > 0 && lesson < lessons.length ? { lesson: lessons.length, page: 0 } : null;
}

// Where a link leads by its fragment or else its query, which count pages from 1; null where it leads to no lesson.
export function placeIn(lessons, { hash, search = "" }) {
  const [fragment, query] = [new URLSearchParams(hash.slice(1)), new URLSearchParams(search)];
  const take = (key) => fragment.get(key) ?? query.get(key);
  const [lesson, page] = [lessons.findIndex(({ name }) => name === take("lesson")), Number(take("page"))];
  if (lesson < 0) return null;
  return { lesson, page: Number.isInteger(page) && page > 0 ? Math.min(page, lessons[lesson].pages.length) - 1 : 0 };
}

const linkTo = (lesson, page) => `#tab=learn&lesson=${lesson.name}&page=${page + 1}`;
const nextLabel = (lessons, at, after) => (
  !after || after.lesson === at.lesson ? "Next" : after.lesson < lessons.length ? "Next lesson" : "Finish");

const pageLinks = (lesson, number) => lesson.pages.map(({ title }, index) => linkNode(`${index + 1}`, linkTo(lesson, index), {
  title, "aria-label": `Page ${index + 1}: ${title}`, ...(index === number && { "aria-current": "page" }),
}));

function createReading(go) {
  const [body, asked] = [el("div", { class: "dl-body" }), el("div", { class: "dl-asked" })];
  const turned = el("div", { class: "dl-turned" }, body, asked);
  const [back, next] = [textButton("Back", () => go(-1)), textButton("Next", () => go(1))];
  const where = el("nav", { class: "dl-where" });
  return {
    nodes: [turned, el("div", { class: "dl-pages" }, back, where, next)],
    show(words, questions, links) {
      body.replaceChildren(...words);
      asked.replaceChildren(...questions);
      where.replaceChildren(...links);
      where.setAttribute("aria-label", `${links.length} pages`);
    },
    showWays(hasBefore, hasNext, label) {
      setText(next, label);
      [back.hidden, next.hidden] = [!hasBefore, !hasNext];
    },
    focus() {
      body.querySelector("h3").focus({ preventScroll: true });
      turned.scrollTop = 0;
    },
  };
}

// options: fetchTrace as in stage.js; play: begins the game; moved: called with {lesson, page} when the reader goes on,
// both as in a link, where the course's end is no lesson's page; begin: where it begins, null for where the link leads.
export function mountCourse(root, { lessons, glossary: terms, mistakes }, { fetchTrace, play, moved, begin }) {
  root.classList.add("dl");
  if (!lessons.length) return root.replaceChildren(mistakeList(mistakes), el("p", {}, "There are no lessons to show."));

  const [stage, glossary] = [createStage(fetchTrace), createGlossary(terms)];
  const progress = createProgress(() => head.draw(at.lesson));
  const choose = (lesson, page) => turnTo({ lesson, page });
  const head = createHead(lessons, glossary.entries, { progress, open: choose, play });
  const reading = createReading((by) => turnTo(stepFrom(lessons, at, by)));
  const card = el("article", { class: "dl-card", "aria-label": "Lesson" }, head.node, ...reading.nodes);
  let at = { lesson: 0, page: 0 }, leave = () => {};

  function showEnd() {
    const { words, list } = createSummary(lessons, progress, choose);
    reading.show(words, [], []);
    stage.showList(list);
    Object.assign(root.dataset, { lesson: "", page: "end" });
  }
  function showPage(lesson, number) {
    progress.see(lesson, number);
    const [page, isLast] = [lesson.pages[number], number === lesson.pages.length - 1];
    const onAnswer = (said, right) => progress.answer(lesson, number, said, right);
    const drawn = createPage(page, { stage, glossary, onAnswer });
    leave = drawn.leave;
    const live = isLast ? [liveBox(lesson, linkTo(lesson, number))] : [];
    const [heading, ...words] = drawn.words;
    const time = number ? [] : [el("p", { class: "dl-note" }, `This lesson takes ${timeOf([lesson])}.`)];
    reading.show([heading, ...time, ...words], [...drawn.question, ...live], pageLinks(lesson, number));
    Object.assign(root.dataset, { lesson: lesson.name, page: number + 1 });
    stage.show(page, drawn.figure);
  }
  function draw() {
    const [before, after] = [stepFrom(lessons, at, -1), stepFrom(lessons, at, 1)];
    leave();
    leave = () => {};
    if (lessons[at.lesson]) showPage(lessons[at.lesson], at.page);
    else showEnd();
    head.draw(at.lesson);
    reading.showWays(before, after, nextLabel(lessons, at, after));
  }
  function turnTo(to) {
    at = to;
    draw();
    reading.focus();
    if (card.getBoundingClientRect().top < 0 || getComputedStyle(card).display === "contents") root.scrollIntoView();
    moved({ lesson: lessons[at.lesson]?.name ?? "", page: at.page + 1 });
  }

  root.replaceChildren(mistakeList(mistakes), card, stage.node);
  at = placeIn(lessons, begin ? { hash: `#lesson=${begin.lesson}&page=${begin.page}` } : location) ?? at;
  draw();
  fillWindow(root);
  addEventListener("hashchange", () => {
    const to = placeIn(lessons, { hash: location.hash });
    if (to) turnTo(to);
  });
}
