// A slider that says what it stands at.

import { el } from "../visualizer/dom.js";

// words: what stands beside it for a value; onMove: called with each new value.
export function createSlider({ label, min, max, step = 1, value, words = String, onMove = () => {} }) {
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
