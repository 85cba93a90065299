// The text, in large type: what stands there, and the tokens that are to come.

import { el } from "../visualizer/dom.js";
import { visible } from "../visualizer/words.js";

function tokenSpan(token, isWritten) {
  return el("span", { class: `dv-token${isWritten ? "" : " dv-story-unwritten"}`, "data-source": token.source }, visible(token.text));
}

// tail: what stands there, {isCut, tokens}; `spans`: of the tokens to come, each in its place already.
export function createText({ isCut, tokens }, coming, label = "") {
  const spans = coming.map((token) => tokenSpan(token, false));
  const text = el("p", { class: "dv-story-text" }, isCut ? "…" : "", ...tokens.map((token) => tokenSpan(token, true)), ...spans);
  const said = label ? [el("p", { class: "dv-story-label" }, label)] : [];
  return { node: el("div", { class: "dv-story-box" }, ...said, text), text, spans };
}

export const write = (span) => span.classList.remove("dv-story-unwritten");
