// The row of figures.

import { el, section, setText } from "./dom.js";
import { duration, fixed, percent } from "./words.js";
import { aboutOf } from "./methods.js";
import { runningNumbers } from "./state.js";

// [name, label, how it is written, what it means].
const NUMBERS = [
  ["tps", "tokens/s", (value) => fixed(value, 1), "tokens written a second, the time to read the prompt included"],
  ["tau", "τ tokens per target forward", (value) => fixed(value, 2), "how many tokens one pass through the target gives; without guesses it gives 1"],
  ["acceptance", "acceptance", percent, "of the guesses that the target checked, the part that it accepted"],
  ["overlap", "overlap of both models", percent, "the part of the time in which draft and target compute at once"],
  ["ttft", "time to first token", duration, "from the start of the run to the first token of the answer"],
  ["k", "k sequences", (value) => fixed(value, 0), "how many guesses at the next words the draft writes side by side"],
  ["gamma", "γ draft budget", (value) => fixed(value, 0), "how many steps the draft may take in this iteration"],
  ["longest", "longest sequence", (value) => fixed(value, 0), "how many tokens a sequence may have; where γ is automatic, no more than are worth checking"],
  ["theta", "θ threshold", (value) => fixed(value, 3), "each first token that the draft finds more probable than this starts a sequence"],
];

const EVERY_RUNS = ["tps", "tau", "ttft"];
// Those that are an iteration's, not the run's.
const ITERATIONS = ["k", "longest", "theta"];

function scopeWords(whole, header) {
  if (!whole) return "up to the iteration shown";
  return ITERATIONS.some((name) => aboutOf(header).numbers.includes(name)) ? "whole run; from k on, of the iteration shown" : "whole run";
}

export function createNumbers({ state }) {
  const values = {};
  const scope = el("span", { class: "dv-scope" });
  const row = el("div", { class: "dv-number-row" });
  const meanings = {};
  for (const [name, label, , meaning] of NUMBERS) {
    values[name] = el("span", { class: "dv-number-value", "data-number": name }, "–");
    row.append(el("div", { class: "dv-number", title: meaning }, values[name], el("span", { class: "dv-number-label" }, label)));
    meanings[name] = el("li", {}, el("b", {}, label), `: ${meaning}`);
  }
  const help = el("details", { class: "dv-meanings" }, el("summary", {}, "What these numbers mean"), el("ul", {}, ...Object.values(meanings)));
  const node = section("numbers", "Numbers", row, help);
  node.firstChild.append(scope);
  return {
    node,
    draw() {
      const whole = Boolean(state.end) && !state.playing;
      const iteration = state.iterations[state.shown];
      const numbers = whole ? state.metrics ?? runningNumbers(state, state.iterations.length - 1) : runningNumbers(state, state.shown);
      const all = { ...numbers, k: iteration?.sequences, gamma: iteration?.budget, longest: iteration?.longest, theta: iteration?.theta };
      for (const [name, , format] of NUMBERS) {
        setText(values[name], format(all[name]));
        const isOthers = Boolean(state.header) && ![...EVERY_RUNS, ...aboutOf(state.header).numbers].includes(name);
        values[name].parentElement.hidden = meanings[name].hidden = isOthers;
      }
      setText(scope, scopeWords(whole, state.header));
    },
  };
}
