// What the marks and the numbers mean, and the keys.

import { el, menu } from "./dom.js";

const KEYS = [
  ["space", "play or pause"], ["← →", "step"], ["Home End", "jump"], ["L", "follow the run"], ["+ −", "change the speed"],
  ["W S", "tree: next or previous token; timeline: zoom (also the wheel)"],
  ["A D", "move the tree or the timeline (also by dragging)"],
];
const TIMELINE = "Timeline: the number on a bar is how many tokens that forward pass reads; hatched is idle; shaded is the iteration shown.";

// Those of the page around it.
export const PAGE_KEYS = [["F", "present: full screen, larger, no form; F or Esc ends it"]];

export function createHelp({ meanings, legend, pageKeys }) {
  const keys = [...KEYS, ...pageKeys].map(([key, does]) => el("li", {}, el("kbd", {}, key), ` ${does}`));
  const part = (title, ...nodes) => el("div", { class: "dv-meanings" }, el("h4", {}, title), ...nodes);
  return menu("help", "Help", part("Marks", legend, el("p", { class: "dv-note" }, TIMELINE)),
    part("What these numbers mean", ...meanings), part("Keys", el("ul", {}, ...keys)));
}
