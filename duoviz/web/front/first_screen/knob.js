// The knob of the first screen: how often the small model is right.

import { el, setText } from "../visualizer/dom.js";
import { percent } from "../visualizer/words.js";

// rates: that can be chosen, in their order; recorded: the one that was measured, among them; pays: from where on it is
// faster, null where that is not known; onChange: called with the rate chosen.
export function createKnob(rates, { recorded, pays, onChange }) {
  const input = el("input", {
    type: "range", min: 0, max: rates.length - 1, step: 1, value: rates.indexOf(recorded), class: "dv-slider",
    "aria-label": "How often is the small model right?",
  });
  const value = el("output", { class: "dv-first-rate" });
  const say = () => {
    const rate = rates[input.value];
    const words = `${percent(rate)}, ${rate === recorded ? "as recorded" : "computed"}`;
    input.setAttribute("aria-valuetext", words);
    setText(value, words);
    return rate;
  };
  input.addEventListener("input", () => onChange(say()));
  say();
  const track = el("div", { class: "dv-first-track" }, input);
  if (pays !== null) {
    const words = `below ${percent(pays)} this run gains less than 5 % (computed)`;
    track.append(el("span", { "class": "dv-first-mark", "aria-hidden": "true" }, "▲"), el("span", { class: "dv-first-pays" }, words));
    const after = rates.findIndex((rate) => rate >= pays);
    const at = after - (rates[after] - pays) / (rates[after] - rates[after - 1] || 1);
    track.style.setProperty("--pays", at / (rates.length - 1));
  }
  return el("label", { class: "dv-first-knob" }, el("span", {}, "How often is the small model right?"), track, value);
}
