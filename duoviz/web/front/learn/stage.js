// What a page is about, beside its text: its figure, and the parts of a recorded run that it discusses.

import { mount } from "../visualizer/mount.js";
import { el, setText, zoomOf } from "../visualizer/dom.js";
import { aboutOf } from "../visualizer/methods.js";
import { placeWords } from "../visualizer/origin.js";
import { eventsOf } from "../visualizer/state.js";

export const MISSING = "The recorded run could not be loaded. Reload the page to try again.";

// What every page has.
const ALWAYS = [".dv-transport", ".dv-sentence"];

const CANDIDATES = ".dv-candidates";

const OUTLINE = "outline: 3px solid var(--dv-text); outline-offset: 4px; border-radius: 6px;";
const THIN = "outline-width: 2px; outline-offset: 0;";
const BOX_MARGIN = 12;

const nextFrame = () => new Promise((done) => { requestAnimationFrame(done); });

function bringIntoBox(box, marks) {
  const node = marks.length && box.querySelector(`.dv-node:is(${marks.join(", ")})`);
  const [outer, inner] = [box.getBoundingClientRect(), (node || box).getBoundingClientRect()];
  const [left, right, bottom] = ["left", "right", "bottom"].map((side) => (inner[side] - outer[side]) / zoomOf(box));
  if (left < 0) box.scrollLeft += left - BOX_MARGIN;
  else if (right > 0) box.scrollLeft += right + BOX_MARGIN;
  if (bottom > 0) box.scrollTop += bottom + BOX_MARGIN;
}

// fetchTrace(method): a promise of its recorded trace, of null where it cannot be had.
export function createStage(fetchTrace) {
  const root = el("div", { class: "dl-visualizer" });
  const [lit, note, aside] = [el("style"), el("p", { class: "dl-note", role: "status" }), el("div", { class: "dl-aside" })];
  const node = el("div", { class: "dl-stage" }, note, aside, root, lit);
  let send;
  const { state, show } = mount(root, { subscribe(callback) { send = callback; } });
  const traces = {};
  let turn = 0;

  const isShown = ({ header, iterations }) => (
    state.header === header && state.iterations.length === iterations.length && state.phase === "done"
  );
  const light = ({ parts, marks }) => {
    root.hidden = !parts.length;
    node.toggleAttribute("data-candidates", marks.includes(CANDIDATES));
    for (const section of root.children) {
      section.classList.toggle("dl-discussed", [...parts, ...ALWAYS].some((part) => section.matches(part)));
    }
    lit.textContent = marks.length ? `.dl-visualizer :is(${marks.join(", ")}) { ${OUTLINE} } .dl-visualizer .dv-bar:is(${marks.join(", ")}) { ${THIN} }` : "";
  };

  return {
    node,
    // A page's figure, its trace, iteration and lights; a page turned to in between wins.
    async show(page, figure) {
      const mine = ++turn;
      light(page);
      aside.replaceChildren(...figure);
      const trace = await (traces[page.trace] ??= fetchTrace(page.trace));
      if (!trace) delete traces[page.trace];
      if (mine !== turn) return;
      // Lessons say Vanilla, as the method itself does.
      const { title } = trace?.header.about ?? aboutOf(trace?.header);
      const plain = trace?.header.method === "vanilla" ? ", the large model alone" : "";
      setText(note, !trace ? MISSING : page.parts.length ? `A recorded run of ${title}${plain}${placeWords(trace.header)}.` : "");
      if (!trace) return;
      if (state.header !== trace.header) eventsOf(trace, page.trace).forEach(send);
      while (mine === turn && !isShown(trace)) await nextFrame();
      if (mine !== turn) return;
      show(page.at, page.until === "guess");
      // Drawn in the next frame; then what is marked may still stand outside of the tree's box.
      await nextFrame();
      await nextFrame();
      if (mine === turn) bringIntoBox(root.querySelector(".dv-tree-box"), page.marks);
    },
    showList(list) {
      turn += 1;
      light({ parts: [], marks: [] });
      setText(note, "");
      aside.replaceChildren(list);
    },
    shown: () => state.shown,
    part: (selector) => root.querySelector(selector),
  };
}
