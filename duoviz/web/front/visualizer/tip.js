// What a word means, where it stands: shown while the word is pointed at or has the focus.

import { el, listen, setAttributes, setText, zoomOf } from "./dom.js";
import { placesToExplain } from "./meanings.js";

const GAP = 6;

// A node that says what it means, if anything, to whoever points at it, presses it, or comes to it by keys.
export function explained(node, meaning) {
  setAttributes(node, { "data-meaning": meaning, "aria-description": meaning, tabindex: "0" });
  return node;
}

export const term = (text, meaning) => explained(el("span", { class: "dv-term" }, text), meaning);

// Has a node say a sentence in which the first of each word that needs it is explained.
export function setSentence(node, text) {
  if (node.textContent === text) return;
  let end = 0;
  const nodes = placesToExplain(text).flatMap(([from, to, meaning]) => {
    const before = text.slice(end, from);
    end = to;
    return [before, term(text.slice(from, to), meaning)];
  });
  node.replaceChildren(...nodes, text.slice(end));
}

export function createTip(root) {
  const node = el("p", { class: "dv-tip", role: "tooltip", hidden: "" });
  let of = null;
  const hide = () => {
    of = null;
    node.hidden = true;
  };
  // Below the word, or above it where the window ends; never beyond the visualizer's sides.
  const place = () => {
    const [outer, inner] = [root, of].map((each) => each.getBoundingClientRect());
    const { width, height } = node.getBoundingClientRect();
    const gap = GAP * zoomOf(root);
    const left = Math.max(outer.left, Math.min(inner.left, outer.right - width));
    const below = inner.bottom + gap + height <= innerHeight;
    const top = below ? inner.bottom + gap : inner.top - gap - height;
    node.style.left = `${(left - outer.left) / zoomOf(root)}px`;
    node.style.top = `${(top - outer.top) / zoomOf(root)}px`;
  };
  const show = ({ target }) => {
    const next = target.closest("[data-meaning]:not([data-meaning=''])");
    if (next === of) return;
    if (!next) return hide();
    of = next;
    setText(node, of.dataset.meaning);
    node.hidden = false;
    place();
  };
  const onKey = ({ key }) => { if (key === "Escape") hide(); };
  listen(root, { pointerover: show, focusin: show, pointerleave: hide, focusout: hide, keydown: onKey });
  return {
    node,
    // What it belongs to may be gone, or mean something else by now.
    draw() {
      if (of?.isConnected && of.dataset.meaning) setText(node, of.dataset.meaning);
      else if (of) hide();
    },
  };
}
