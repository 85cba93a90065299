// The figures: those of the whole run, and those of the iteration shown.

import { el, section, setText } from "./dom.js";
import { duration, fixed, known, percent } from "./words.js";
import { aboutOf } from "./methods.js";
import { isLive, runningNumbers } from "./state.js";
import { speedUp } from "./baseline.js";

const whole = (value) => fixed(value, 0);

// [name, label, how it is written, what it means].
const OF_THE_RUN = [
  ["tps", "tokens/s", (value) => fixed(value, 1), "tokens written a second, the time to read the prompt included"],
  ["tau", "τ tokens per forward", (value) => fixed(value, 2), "how many tokens one pass through the target gives; without guesses it gives 1"],
  ["acceptance", "acceptance", percent, "of the places in the text where guesses were checked, the part at which one was accepted"],
  ["overlap", "overlap of both", percent, "the part of the time in which draft and target compute at once"],
  ["ttft", "to the first token", duration, "from the start of the run to the first token of the answer"],
  ["phi", "φ over vanilla's last run", (value) => fixed(value, 2), "tokens a second, compared with vanilla's last run on all cores of this machine, shown in this browser: another prompt may have been faster or slower"],
];
const OF_THE_ITERATION = [
  ["written", "tokens written", whole, "how many tokens this iteration added to the text"],
  ["took", "it took", duration, "from the end of the iteration before to the end of this one"],
  ["k", "k sequences", whole, "how many guesses at the next words the draft writes side by side"],
  ["gamma", "γ draft budget", whole, "how many steps the draft may take in this iteration"],
  ["longest", "longest sequence", whole, "how many tokens the longest sequence has; where γ is automatic, each goes on only while it is likely enough to be worth checking"],
  ["theta", "θ threshold", (value) => fixed(value, 3), "each first token that the draft finds more probable than this starts a sequence"],
];
const EVERY_METHODS = ["tps", "tau", "ttft", "written", "took"];

function iterationNumbers(state) {
  const iteration = state.iterations[state.shown];
  if (!iteration) return {};
  const { budget, longest, theta, sequences, committed, sync } = iteration;
  const begin = Math.max(state.iterations[state.shown - 1]?.sync ?? 0, 0);
  return { written: committed.length, took: sync - begin, k: sequences, gamma: budget, longest, theta };
}

// A run that goes on is as long as it has come so far, whatever iteration is shown.
function runNumbers(state) {
  const numbers = (state.end && state.metrics) || runningNumbers(state, state.iterations.length - 1);
  return { ...numbers, phi: speedUp(state, numbers) };
}

function createGroup(title, entries) {
  const heading = el("h4", { class: "dv-subheading" }, title);
  const [row, meanings] = [el("div", { class: "dv-number-row" }), el("ul", {})];
  const parts = entries.map(([name, label, write, meaning]) => {
    const value = el("span", { class: "dv-number-value", "data-number": name }, "–");
    const box = el("div", { class: "dv-number", title: meaning }, value, el("span", { class: "dv-number-label" }, label));
    const line = el("li", {}, el("b", {}, label), `: ${meaning}`);
    row.append(box);
    meanings.append(line);
    return { name, value, write, box, line };
  });
  return {
    node: el("div", { class: "dv-number-group" }, heading, row),
    heading, meanings,
    draw(numbers, header) {
      for (const { name, value, write, box, line } of parts) {
        setText(value, write(numbers[name]));
        const isOwn = !header || EVERY_METHODS.includes(name) || aboutOf(header).numbers.includes(name);
        box.hidden = line.hidden = name === "phi" ? !known(numbers.phi) : !isOwn;
      }
    },
  };
}

export function createNumbers({ state }) {
  const run = createGroup("Whole run", OF_THE_RUN);
  const iteration = createGroup("This iteration", OF_THE_ITERATION);
  return {
    node: section("numbers", "Numbers", run.node, iteration.node),
    meanings: [run.meanings, iteration.meanings],
    draw() {
      setText(run.heading, isLive(state) ? "The run so far" : "Whole run");
      run.draw(runNumbers(state), state.header);
      iteration.draw(iterationNumbers(state), state.header);
    },
  };
}
