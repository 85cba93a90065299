// The figure "threshold": how many first tokens stand over θ, wherever the reader drags it.

import { el, setText } from "../visualizer/dom.js";
import { count, fixed, tokenLabel } from "../visualizer/words.js";
import { shareBar } from "./outcomes.js";
import { createSlider } from "./slider.js";

// k: at least one sequence, and no more than the draft budget.
export const sequencesOver = (candidates, theta, budget) => (
  Math.max(1, Math.min(budget, candidates.filter(({ p }) => p > theta).length))
);

// More first tokens than are listed may be over a low threshold, and more than may begin a sequence.
export function overWords(candidates, theta, budget) {
  const over = candidates.filter(({ p }) => p > theta).length;
  const k = sequencesOver(candidates, theta, budget);
  if (!over) return "No first token is over the threshold, so only the best one begins a sequence: k = 1.";
  if (over === candidates.length) return `All ${over} first tokens listed are over the threshold: k = ${k}, the maximum.`;
  return `${count(over, "first token")} over the threshold: k = ${k}${k < over ? ", the maximum" : ""}.`;
}

function candidateBar({ text, p }, top) {
  const mark = el("span", {}, "●");
  const node = el("div", { class: "dl-row" }, el("span", { class: "dl-token" }, mark, ` ${tokenLabel(text)}`),
    el("div", { class: "dl-lane" }, shareBar("draft", p / top)), el("span", {}, fixed(p, 3)));
  return { p, mark, node };
}

export function thresholdFigure({ candidates, theta, budget }) {
  // A little more than the best token has, so that the small ones can be told apart.
  const top = Math.min(1, Math.ceil(candidates[0].p * 22) / 20);
  const rows = candidates.map((candidate) => candidateBar(candidate, top));
  const line = el("div", { class: "dl-line" });
  const note = el("p", { class: "dl-note" });
  const slider = createSlider({
    label: "Threshold θ", min: 0, max: top, step: top / 200, value: theta, words: (value) => fixed(value, 3),
    onMove(value) {
      line.style.setProperty("--at", value / top);
      for (const { p, mark, node } of rows) {
        mark.style.visibility = p > value ? "visible" : "hidden";
        node.dataset.over = p > value;
      }
      setText(note, `${overWords(candidates, value, budget)} In the run θ was ${fixed(theta, 3)}.`);
    },
  });
  const chart = el("div", { class: "dl-rows" }, ...rows.map(({ node }) => node), line);
  return { node: el("div", {}, chart, slider.node, note), reading: () => sequencesOver(candidates, slider.value(), budget) };
}
