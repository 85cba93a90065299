// What the page calls a run's figures, and what each means: shown while a word is pointed at or has the focus.

import { el, listen, setAttributes, setText, zoomOf } from "./dom.js";

const SEQUENCE = "A sequence: tokens that the small model (draft) proposes one after another, as a guess at what comes next.";

export const MEANINGS = {
  tps: ["tokens/s", "Tokens written per second, including the time to read the prompt."],
  tau: ["tokens per pass (τ)", "Tokens written per pass of the large model (target), its reading of the prompt included. Without guesses: 1. A right guess need not save a pass: DuoDecoding's large model was computing some of these tokens at the same time."],
  acceptance: ["acceptance", "How often a tested position (all guesses before it were right) had a correct guess. In DuoDecoding a right first token alone saves no pass: the target computed it in that pass. What was drafted after it does."],
  overlap: ["both working at once", "Share of the time in which draft and target both compute."],
  ttft: ["to the first token", "Time from the start of the run to the first token."],
  phi: ["× as fast as alone (φ)", "Speed-up over the large model alone (vanilla), with the same prompt and settings: the fastest of this visit, or for a recording the one recorded with it."],
  written: ["tokens written", "How many tokens this iteration added to the text."],
  took: ["duration", "From the end of the previous iteration to the end of this one."],
  k: ["k sequences", `How many sequences the draft starts in this iteration, each with a different first token. ${SEQUENCE}`],
  gamma: ["γ draft budget", "How many draft steps are allowed in this iteration (with SpS and automatic γ: how many were made). A step is one forward pass of the draft."],
  longest: ["longest sequence", "Length of the longest sequence, in tokens. With automatic γ, sequences get no longer than pays at this run's acceptance."],
  theta: ["θ threshold", "The probability of the draft's best token times that of the best token after it. Every first token more probable than this starts a sequence."],
};

const WORDS = [["sequences?", SEQUENCE], ["threshold", MEANINGS.theta[1]]];

// The first place in a text of each word that needs to be explained: [begin, end, meaning].
export function placesToExplain(text) {
  const found = WORDS.map(([word, meaning]) => [new RegExp(`\\b${word}\\b`).exec(text), meaning]).filter(([match]) => match);
  const places = found.map(([{ index, 0: word }, meaning]) => [index, index + word.length, meaning]);
  return places.sort((one, other) => one[0] - other[0]);
}

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
  // Above the word, or below it where the window begins; never beyond the visualizer's sides.
  const place = () => {
    const [outer, inner] = [root, of].map((each) => each.getBoundingClientRect());
    const { width, height } = node.getBoundingClientRect();
    const gap = GAP * zoomOf(root);
    const left = Math.max(outer.left, Math.min(inner.left, outer.right - width));
    const above = inner.top - gap - height;
    const top = above >= 0 ? above : inner.bottom + gap;
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
    draw() {
      if (of?.isConnected && of.dataset.meaning) setText(node, of.dataset.meaning);
      else if (of) hide();
    },
  };
}
