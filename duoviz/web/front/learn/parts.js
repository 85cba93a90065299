// What figures are made of: a slider that says what it stands at, and bars of probabilities.

import { el } from "../visualizer/dom.js";
import { fixed, tokenLabel, visible } from "../visualizer/words.js";

// words: what stands beside it for a value; onMove: called with each new value.
export function createSlider({ label, min, max, step = 1, value, words = String, onMove }) {
  const input = el("input", { type: "range", min, max, step, value, "aria-label": label });
  const output = el("output", { class: "dl-reading" });
  // Until it is moved it stands at the value given, which need not be a whole number of steps.
  let current = value;
  const tell = () => {
    const told = words(current);
    output.textContent = told;
    input.setAttribute("aria-valuetext", told);
    onMove(current);
  };
  input.addEventListener("input", () => {
    current = Number(input.value);
    tell();
  });
  tell();
  return { node: el("div", { class: "dl-slider" }, el("span", {}, label), input, output), value: () => current };
}

export const outcomeName = ({ text }) => tokenLabel(text);

export const shareBar = (side, share) => el("span", { class: "dl-bar", "data-side": side, style: `width: ${100 * share}%` });

function numberedBar(side) {
  const fill = shareBar(side, 0);
  const number = el("span", {});
  return { set(share) { fill.style.width = `${100 * share}%`; number.textContent = fixed(share, 2); }, nodes: [el("div", { class: "dl-lane" }, fill), number] };
}

// Rows of an outcome's name, p and q, for what comes after the text `before`; `cells`: one more for each row, in a
// `column` of this name.
export function createOutcomes(outcomes, { before, cells = null, column = "" }) {
  const rows = outcomes.map((outcome, index) => {
    const [p, q] = [numberedBar("target"), numberedBar("draft")];
    p.set(outcome.p);
    q.set(outcome.q);
    const node = el("div", { class: "dl-outcome", "data-likelier": outcome.q > outcome.p ? "draft" : "target" },
      el("span", { class: "dl-token" }, outcomeName(outcome)), el("div", { class: "dl-pair" }, ...p.nodes, ...q.nodes), ...(cells ? [cells[index]] : []));
    return { q, node };
  });
  const key = el("p", { class: "dl-note dl-outcome-key" }, el("span", { class: "dl-key", "data-side": "target" }), "p, the target's probability",
    el("span", { class: "dl-key", "data-side": "draft" }), "q, the draft's", ...(cells ? [el("span", { class: "dl-column" }, column)] : []));
  const place = el("p", {}, "What comes after ", el("span", { class: "dl-value" }, `“…${visible(before)}”`), "?");
  return { node: el("div", { class: "dl-outcomes" }, place, key, ...rows.map(({ node }) => node)), setDraft: (shares) => shares.forEach((share, index) => rows[index].q.set(share)) };
}
