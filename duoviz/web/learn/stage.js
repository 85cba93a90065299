// The visualizer beside a lesson: it shows the recorded run that the page is about, with what matters lit up.

import { mount } from "../visualizer/mount.js";
import { el, setText } from "../visualizer/dom.js";
import { eventsOf } from "../visualizer/state.js";

const MISSING = "The recorded run could not be loaded. Reload the page to try again.";

// Always lit: the reader steps with it.
const PLAYER = ".dv-transport";

// Bars stand close together.
const OUTLINE = "outline: 3px solid var(--dl-mark); outline-offset: 2px; border-radius: 6px;";
const THIN = "outline-width: 2px; outline-offset: 0;";
const BOX_MARGIN = 12;

const nextFrame = () => new Promise((done) => { requestAnimationFrame(done); });

function bringIntoBox(box, marks) {
  const node = marks.length && box.querySelector(`.dv-node:is(${marks.join(", ")})`);
  const [outer, inner] = [box.getBoundingClientRect(), (node || box).getBoundingClientRect()];
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + BOX_MARGIN;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + BOX_MARGIN;
  if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + BOX_MARGIN;
}

// fetchTrace(method): a promise of its recorded trace, of null where it cannot be had.
export function createStage(fetchTrace) {
  const root = el("div", { class: "dl-visualizer" });
  const [lit, note] = [el("style"), el("p", { class: "dl-note", role: "status" })];
  const node = el("div", { class: "dl-stage" }, note, root, lit);
  const subscribers = new Set();
  const { state, show } = mount(root, { subscribe(callback) { subscribers.add(callback); return () => subscribers.delete(callback); } });
  const traces = new Map();
  let turn = 0;

  const load = (method) => {
    if (!traces.has(method)) traces.set(method, fetchTrace(method));
    return traces.get(method);
  };
  const isShown = ({ header, iterations }) => state.header === header && state.iterations.length === iterations.length && state.phase === "done";
  const light = ({ parts, marks, figure }) => {
    const all = !parts.length && !figure;
    for (const section of root.querySelectorAll(".dv-section")) {
      section.classList.toggle("dl-dim", !all && ![...parts, PLAYER].some((part) => section.matches(part)));
    }
    lit.textContent = marks.length ? `.dl-visualizer :is(${marks.join(", ")}) { ${OUTLINE} } .dl-visualizer .dv-bar:is(${marks.join(", ")}) { ${THIN} }` : "";
  };

  return {
    node,
    // A page's trace, iteration and lights; a page turned to in between wins.
    async show(page) {
      const mine = ++turn;
      light(page);
      const trace = await load(page.trace);
      if (!trace) traces.delete(page.trace);
      setText(note, trace ? "" : MISSING);
      if (mine !== turn || !trace) return;
      if (state.header !== trace.header) {
        for (const event of eventsOf(trace, page.trace)) for (const callback of subscribers) callback(event);
      }
      while (mine === turn && !isShown(trace)) await nextFrame();
      if (mine !== turn) return;
      show(page.at);
      // Drawn in the next frame; then what is marked may still stand outside of the tree's box.
      await nextFrame();
      await nextFrame();
      if (mine === turn) bringIntoBox(root.querySelector(".dv-tree-box"), page.marks);
    },
    // What the page is about; on a small screen the lesson stays where it is, above.
    bringIntoView({ parts: [first] }) {
      if (first && matchMedia("(min-width: 901px)").matches) root.querySelector(first).scrollIntoView({ block: "nearest" });
    },
    shown: () => state.shown,
    part: (selector) => root.querySelector(selector),
  };
}
