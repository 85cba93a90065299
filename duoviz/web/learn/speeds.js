// The figure "speeds": how fast each recorded run was.

import { el } from "../visualizer/dom.js";
import { duration, fixed } from "../visualizer/words.js";

export function speedsFigure({ runs }) {
  const top = Math.max(...runs.map(({ tps }) => tps));
  const rows = runs.map(({ name, tps, tau, forward, device }) => {
    const bar = el("span", { class: "dl-bar", "data-side": name === "Vanilla" ? "target" : "draft" });
    bar.style.width = `${(100 * tps) / top}%`;
    const why = `τ ${fixed(tau, 2)} · ${duration(forward)} a target forward · ${device}`;
    return el("div", { class: "dl-speed" }, el("span", { class: "dl-token" }, name), el("div", { class: "dl-lane" }, bar),
      el("span", {}, fixed(tps, 1)), el("span", { class: "dl-why" }, why));
  });
  return { node: el("div", {}, el("p", { class: "dl-note" }, "Tokens a second, one recorded run each."), el("div", { class: "dl-rows" }, ...rows)) };
}
