// The figures of lessons by their names: each gives its node and, where a question may ask for it, its reading.

import { el, setText } from "../visualizer/dom.js";
import { colorOf } from "../visualizer/methods.js";
import { asShown, count, duration, fixed, tokenLabel } from "../visualizer/words.js";
import { cacheFigure } from "./cache.js";
import { costsFigure } from "./costs.js";
import { coupledFigure, ruleFigure } from "./draws.js";
import { createSlider, shareBar } from "./parts.js";

export function waiting(target, drafting) {
  const gap = duration(Math.abs(asShown(target) - asShown(drafting)));
  if (gap === duration(0)) return "Both are ready at the same time.";
  return target > drafting ? `The draft waits ${gap} for the target.` : `The target waits ${gap} for the draft.`;
}

function budgetFigure({ target, step, most }) {
  const longest = Math.max(target, most * step);
  const lane = el("div", { class: "dl-lane" });
  const note = el("p", { class: "dl-note" });
  const slider = createSlider({
    label: "Draft steps γ", min: 1, max: most, value: 1,
    onMove(steps) {
      lane.replaceChildren(...Array.from({ length: steps }, () => shareBar("draft", step / longest)));
      setText(note, `Target: ${duration(target)}. Draft, ${count(steps, "step")}: ${duration(steps * step)}. ${waiting(target, steps * step)}`);
    },
  });
  const lanes = el("div", { class: "dl-lanes", "aria-hidden": "true" },
    el("span", {}, "Target"), el("div", { class: "dl-lane" }, shareBar("target", target / longest)), el("span", {}, "Draft"), lane);
  return { node: el("div", {}, lanes, slider.node, note), reading: slider.value };
}

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

function thresholdFigure({ candidates, theta, budget }) {
  const top = Math.min(1, Math.ceil(candidates[0].p * 22) / 20);
  const rows = candidates.map((candidate) => candidateBar(candidate, top));
  const line = el("div", { class: "dl-line" });
  const note = el("p", { class: "dl-note" });
  const slider = createSlider({
    label: "Threshold θ", min: 0, max: top, step: top / 200, value: theta, words: (value) => fixed(value, 4),
    onMove(value) {
      line.style.setProperty("--at", value / top);
      for (const { p, mark, node } of rows) {
        mark.style.visibility = p > value ? "visible" : "hidden";
        node.dataset.over = p > value;
      }
      setText(note, `${overWords(candidates, value, budget)} In the run θ was ${fixed(theta, 4)}.`);
    },
  });
  const chart = el("div", { class: "dl-rows" }, ...rows.map(({ node }) => node), line);
  return { node: el("div", {}, chart, slider.node, note), reading: () => sequencesOver(candidates, slider.value(), budget) };
}

const whyOf = ({ tau, iteration, rows, device, lab }) => (
  `τ ${fixed(tau, 2)} · ${duration(iteration)} per iteration · ${fixed(rows, 1)} tokens read · ${device}${lab ? ` · Lab: φ ${lab}` : ""}`
);

function speedsFigure({ runs }) {
  const top = Math.max(...runs.map(({ tps }) => tps));
  const lines = runs.toSorted((a, b) => b.tps - a.tps).map(({ method, title, tps, ...about }) => {
    const bar = shareBar("method", tps / top);
    bar.style.background = colorOf(method);
    return el("div", { class: "dl-speed" }, el("span", { class: "dl-token" }, title), el("div", { class: "dl-lane" }, bar),
      el("span", {}, fixed(tps, 1)), el("span", { class: "dl-why" }, whyOf(about)));
  });
  return { node: el("div", {}, el("p", { class: "dl-note" }, "Tokens per second of the recorded run of each method."), el("div", { class: "dl-rows" }, ...lines)) };
}

export const FIGURES = {
  "target costs": costsFigure, costs: costsFigure, budget: budgetFigure, threshold: thresholdFigure, "coupled draws": coupledFigure,
  "classical rule": ruleFigure, cache: cacheFigure, speeds: speedsFigure,
};
