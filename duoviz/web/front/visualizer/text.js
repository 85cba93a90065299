// The text, each token marked with its source.

import { el, section, tellEnds, watchSize, zoomOf } from "./dom.js";
import { apart, count, fixed, known } from "./words.js";
import { originOf } from "./methods.js";
import { nodesOf } from "./sentence.js";
import { writtenUpTo } from "./player.js";

function tokenSpan(token, text, position, node, header) {
  const facts = [`iteration ${position}`, originOf(token.source, header)];
  if (known(node?.q)) facts.push(`draft probability ${fixed(node.q, 2)}`);
  if (known(node?.count)) facts.push(`${count(node.count, "time")} in the datastore`);
  if (known(node?.p)) facts.push(`target probability ${fixed(node.p, 2)}`);
  if (known(token.gap)) facts.push(`${fixed(token.gap, 2)} logits ahead of the next best`);
  const span = el("span", { class: "dv-token", "data-iteration": position, "data-source": token.source, title: facts.join(" · ") });
  if (/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text)) span.classList.add("dv-isolated");
  // Newlines get a sign from CSS, so that textContent stays the decoded text exactly.
  text.split("\n").forEach((line, at) => {
    if (at) span.append(el("i", { class: "dv-newline", "aria-hidden": "true" }), "\n");
    if (line) span.append(line);
  });
  return span;
}

// Committed tokens, one group an iteration. Paragraphs are blocks of their own, so that a new token lays out one
// paragraph and not the whole text.
function createFlow(box, state) {
  let groups = [], paragraph = null;
  const openGroup = (position, isLater, space) => {
    if (!paragraph) box.append((paragraph = el("div", { class: "dv-paragraph" })));
    const group = el("span", { class: isLater ? "dv-group dv-later" : "dv-group", "data-group": position });
    paragraph.append(space, group);
    groups[position].push(group);
    return group;
  };
  return {
    size: () => groups.length,
    of: (position) => groups[position] ?? [],
    mark: (position, name, on) => groups[position]?.forEach((group) => group.classList.toggle(name, on)),
    clear() {
      [groups, paragraph] = [[], null];
      box.replaceChildren();
    },
    append(iteration, isLater) {
      const position = groups.push([]) - 1;
      const nodes = nodesOf(iteration);
      let group = null;
      for (const [order, token] of iteration.committed.entries()) {
        const [space, text] = apart(token.text);
        if (group) group.append(space);
        else group = openGroup(position, isLater, space);
        group.append(tokenSpan(token, text, position, nodes[order]?.node, state.header));
        if (token.text.endsWith("\n")) paragraph = group = null;
      }
    },
  };
}

// To a line's beginning at the upper edge.
function scrollInto(box, node) {
  const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  const line = parseFloat(getComputedStyle(box).lineHeight) || 1;
  const lines = (side, beyond) => (box.scrollTop + (inner[side] - outer[side]) / zoomOf(box) + beyond) / line;
  if (inner.bottom > outer.bottom - 4) box.scrollTop = Math.ceil(lines("bottom", 6)) * line;
  else if (inner.top < outer.top) box.scrollTop = Math.floor(lines("top", 0)) * line;
}

export function createText({ state, choose }) {
  const box = el("div", { class: "dv-text-box", tabindex: "0", role: "group", "aria-label": "Text" });
  const flow = createFlow(box, state);
  let epoch = state.epoch, outlined = -1, written = -1, isScrolled = true;
  // What comes after what is written so far looks so.
  const mark = () => {
    const now = writtenUpTo(state);
    for (let position = Math.min(written, now) + 1; position <= Math.max(written, now); position++) flow.mark(position, "dv-later", position > now);
    written = now;
  };
  const grow = () => {
    if (epoch !== state.epoch) {
      flow.clear();
      [epoch, outlined, written] = [state.epoch, -1, -1];
    }
    mark();
    for (let position = flow.size(); position < state.iterations.length; position++) {
      flow.append(state.iterations[position], position > written);
    }
  };
  const settle = () => {
    if (isScrolled) return;
    if (flow.of(outlined).length) scrollInto(box, flow.of(outlined).at(-1));
    tellEnds(box);
    isScrolled = true;
  };
  watchSize(box, () => { isScrolled = false; settle(); });
  box.addEventListener("scroll", () => tellEnds(box));
  box.addEventListener("click", (event) => {
    const token = event.target.closest(".dv-token");
    if (token) choose(Number(token.dataset.iteration));
  });
  return {
    node: section("text", "Text", box),
    highlight: (position, on) => flow.mark(position, "dv-lit", on),
    spansOf: (position) => flow.of(position).flatMap((group) => [...group.children]),
    grow,
    draw() {
      grow();
      if (outlined === state.shown) return;
      flow.mark(outlined, "dv-shown", false);
      flow.mark(state.shown, "dv-shown", true);
      [outlined, isScrolled] = [state.shown, false];
    },
    settle,
  };
}
