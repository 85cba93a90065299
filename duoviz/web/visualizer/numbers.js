// The row of figures.

import { el, section, setText } from "./dom.js";
import { duration, fixed, percent } from "./words.js";
import { runningNumbers } from "./state.js";

const NUMBERS = [
  ["tps", "tokens/s", (value) => fixed(value, 1)],
  ["tau", "τ tokens per target forward", (value) => fixed(value, 2)],
  ["acceptance", "acceptance", percent],
  ["overlap", "overlap of both models", percent],
  ["ttft", "time to first token", duration],
  ["k", "k sequences", (value) => fixed(value, 0)],
  ["gamma", "γ draft budget", (value) => fixed(value, 0)],
  ["theta", "θ threshold", (value) => fixed(value, 3)],
];

const isDuo = ({ method }) => method === "duodecoding";
// Which numbers not every method has.
const OWNED = { acceptance: ({ method }) => method !== "vanilla", overlap: isDuo, k: isDuo, gamma: ({ draft }) => draft !== null, theta: isDuo };

function scopeWords(whole, header) {
  if (!whole) return "up to the iteration shown";
  return header && isDuo(header) ? "whole run; k, γ, θ of the iteration shown" : "whole run";
}

export function createNumbers({ state }) {
  const values = {};
  const scope = el("span", { class: "dv-scope" });
  const row = el("div", { class: "dv-number-row" });
  for (const [name, label] of NUMBERS) {
    values[name] = el("span", { class: "dv-number-value", "data-number": name }, "–");
    row.append(el("div", { class: "dv-number" }, values[name], el("span", { class: "dv-number-label" }, label)));
  }
  const node = section("numbers", "Numbers", row);
  node.firstChild.append(scope);
  return {
    node,
    draw() {
      const whole = Boolean(state.end) && !state.playing;
      const iteration = state.iterations[state.shown];
      const numbers = whole ? state.metrics ?? runningNumbers(state, state.iterations.length - 1) : runningNumbers(state, state.shown);
      const all = { ...numbers, k: iteration?.sequences, gamma: iteration?.budget, theta: iteration?.theta };
      for (const [name, , format] of NUMBERS) {
        setText(values[name], format(all[name]));
        values[name].parentElement.hidden = Boolean(state.header && OWNED[name] && !OWNED[name](state.header));
      }
      setText(scope, scopeWords(whole, state.header));
    },
  };
}
