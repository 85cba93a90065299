// The figure "speeds": how fast each recorded run was, and why.

import { el } from "../visualizer/dom.js";
import { aboutOf } from "../visualizer/methods.js";
import { duration, fixed } from "../visualizer/words.js";
import { shareBar } from "./outcomes.js";

// Why a run was that fast: the tokens that a forward gave, the time from one to the next, and the tokens in each.
export const whyOf = ({ tau, iteration, rows, device }) => (
  `τ ${fixed(tau, 2)} · ${duration(iteration)} per iteration · ${fixed(rows, 1)} tokens read · ${device}`
);

export function speedsFigure({ runs }) {
  const top = Math.max(...runs.map(({ tps }) => tps));
  const lines = runs.map(({ method, title, tps, ...about }) => {
    const bar = shareBar(aboutOf({ method }).proposers.length ? "draft" : "target", tps / top);
    return el("div", { class: "dl-speed" }, el("span", { class: "dl-token" }, title), el("div", { class: "dl-lane" }, bar),
      el("span", {}, fixed(tps, 1)), el("span", { class: "dl-why" }, whyOf(about)));
  });
  return { node: el("div", {}, el("p", { class: "dl-note" }, "Tokens per second, one recorded run per method."), el("div", { class: "dl-rows" }, ...lines)) };
}
