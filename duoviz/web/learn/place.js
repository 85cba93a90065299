// Where in the course a link leads, and what it leaves on the page.

import { clip, visible } from "../visualizer/words.js";

// The fragment's or else the query's: a lesson's name, a page's number from 1, and a list of what is shown, or null each.
export function placeOf({ hash, search }) {
  const [fragment, query] = [new URLSearchParams(hash.slice(1)), new URLSearchParams(search)];
  const take = (name) => fragment.get(name) ?? query.get(name);
  const page = Number(take("page"));
  return {
    lesson: take("lesson"),
    page: Number.isInteger(page) && page > 0 ? page : 1,
    controls: take("controls")?.split(",").map((name) => name.trim()).filter(Boolean) ?? null,
  };
}

const CONTROLS = ["pages", "lessons", "live", "step", "play", "slider", "speed", "zoom"];
const KEY_CONTROLS = {
  " ": "play", ArrowLeft: "step", ArrowRight: "step", Home: "step", End: "step", l: "step", L: "step",
  "+": "speed", "=": "speed", "-": "speed", "−": "speed", w: "zoom", s: "zoom", a: "zoom", d: "zoom", W: "zoom", S: "zoom", A: "zoom", D: "zoom",
};

// Leaves on the page only these controls, null for all; their keys go with them. Returns a sentence for each unknown one.
export function limitControls(root, controls) {
  if (!controls) return [];
  root.dataset.controls = controls.join(" ");
  document.addEventListener("keydown", (event) => {
    const own = event.target instanceof Element && event.target.closest("input, textarea, select, button, [role=button]");
    if (!root.checkVisibility() || own || !(event.key in KEY_CONTROLS) || controls.includes(KEY_CONTROLS[event.key])) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  const unknown = controls.filter((name) => !CONTROLS.includes(name));
  return unknown.map((name) => `The link names the control "${clip(visible(name), 40)}"; there are: ${CONTROLS.join(", ")}.`);
}
