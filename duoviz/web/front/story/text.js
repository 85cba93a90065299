// The text, in large type: what stands there, and the tokens that are to come.

import { el } from "../visualizer/dom.js";
import { visible } from "../visualizer/words.js";

// What is hidden keeps its place.
export const hide = (...nodes) => nodes.forEach((node) => node.classList.add("dv-story-unwritten"));
export const reveal = (...nodes) => nodes.forEach((node) => node.classList.remove("dv-story-unwritten"));

// A node is seen from now on, and comes from there.
export function bring(motion, node, from) {
  reveal(node);
  motion.appear(node, from);
}

function tokenSpan(token, isWritten) {
  const name = isWritten ? "dv-token" : "dv-token dv-story-unwritten";
  return el("span", { "class": name, "data-source": token.source }, visible(token.text));
}

// tail: what stands there, {isCut, tokens}; `spans`: of the tokens to come, each in its place already.
export function createText({ isCut, tokens }, coming, label = "") {
  const [written, spans] = [tokens, coming].map((list) => list.map((token) => tokenSpan(token, list === tokens)));
  const text = el("p", { class: "dv-story-text" }, isCut ? "…" : "", ...written, ...spans);
  const said = label ? [el("p", { class: "dv-story-label" }, label)] : [];
  return { node: el("div", { class: "dv-story-box" }, ...said, text), text, spans };
}
