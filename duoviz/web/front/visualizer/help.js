// What the marks and the numbers mean, and the keys.

import { el, menu } from "./dom.js";

const KEYS = [
  ["space", "play or pause"], ["← →", "step"], ["Home End", "jump"], ["L", "follow the run"], ["+ −", "change the speed"],
  ["W S", "in the tree: from token to token; in the timeline: zoom, as the wheel does"],
  ["A D", "move the tree or the timeline, as dragging does"],
];
const TIMELINE = "In the timeline a number says how many tokens that forward reads, hatched is idle, and the iteration shown is shaded.";

// Those of the page around it.
export const PAGE_KEYS = [["F", "presents the page: full screen, larger, without the form; F or Esc ends it"]];

export function createHelp({ meanings, legend, pageKeys }) {
  const keys = [...KEYS, ...pageKeys].map(([key, does]) => el("li", {}, el("kbd", {}, key), ` ${does}`));
  const part = (title, ...nodes) => el("div", { class: "dv-meanings" }, el("h4", {}, title), ...nodes);
  return menu("help", "Help", part("Marks", legend, el("p", { class: "dv-note" }, TIMELINE)),
    part("What these numbers mean", ...meanings), part("Keys", el("ul", {}, ...keys)));
}
