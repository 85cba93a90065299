// The figure "budget": how many draft steps fit beside one target forward.

import { el, setText } from "../visualizer/dom.js";
import { count, duration } from "../visualizer/words.js";
import { shareBar } from "./outcomes.js";
import { createSlider } from "./slider.js";

export function waiting(target, drafting) {
  const gap = duration(Math.abs(target - drafting));
  // What is too short to be written is no waiting.
  if (gap === duration(0)) return "Both are ready at the same time.";
  return target > drafting ? `The draft waits ${gap} for the target.` : `The target waits ${gap} for the draft.`;
}

export function budgetFigure({ target, step, most }) {
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
