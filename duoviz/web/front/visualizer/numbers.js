// The figures of the whole run and of the iteration shown, and what φ compares a run with.

import { button, el, section, setText } from "./dom.js";
import { explained, MEANINGS } from "./meanings.js";
import { aboutOf } from "./methods.js";
import { coresOf } from "./origin.js";
import { isLive, isTimed, runningNumbers, spanOf } from "./state.js";
import { duration, fixed, known, measuredWords, percent } from "./words.js";

const LEAST_TOKENS = 16;
const COMMON = ["max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw"];

// A whole run's end has a message where the machine was busy or the draft failed: nothing follows from its speed.
const isDisturbed = ({ end }) => Boolean(end?.message);

const speeds = new Map();

const keyOf = ({ pair, target, prompt, settings }) => (
  JSON.stringify([pair, target.name, prompt, ...COMMON.map((name) => settings[name])]));

// To be called when a run of this machine has ended. Gives a sentence on what it was compared with, or "".
export function keepSpeed({ header, end, metrics }) {
  if (!header || !["eos", "length"].includes(end?.stopped) || !(metrics?.new_tokens >= LEAST_TOKENS)) return "";
  const [key, isVanilla] = [keyOf(header), header.method === "vanilla"];
  if (isVanilla && header.settings.cores !== "auto") return "";
  const before = speeds.get(key) ?? {};
  if (isDisturbed({ end })) {
    if (!isVanilla) return "Generate again to compare it with the large model alone.";
    return before.other ? "So it is not compared." : "";
  }
  const { tps } = metrics;
  speeds.set(key, { ...before, ...(isVanilla ? { vanilla: tps } : { other: { title: aboutOf(header).title, tps } }) });
  if (!isVanilla || !before.other) return "";
  return `${before.other.title} was ${fixed(before.other.tps / tps, 2)} times as fast as the large model alone on ${coresOf(header.target)}.`;
}

const isComparable = (state) => Boolean(state.header) && state.header.method !== "vanilla" && state.file === null && !isLive(state) && !isDisturbed(state);

export function speedUp(state, { tps }) {
  const mine = isComparable(state) ? speeds.get(keyOf(state.header))?.vanilla : null;
  const vanilla = state.recorded && state.header?.method !== "vanilla" ? state.vanilla : mine;
  return vanilla && known(tps) ? tps / vanilla : null;
}

const whole = (value) => fixed(value, 0);

const OF_THE_RUN = [
  ["tps", (value) => fixed(value, 1)], ["phi", (value) => fixed(value, 2)], ["tau", (value) => fixed(value, 2)],
  ["acceptance", percent], ["overlap", percent], ["ttft", duration],
];
const OF_THE_ITERATION = [
  ["written", whole], ["took", duration], ["k", whole], ["gamma", whole], ["longest", whole], ["theta", (value) => fixed(value, 4)],
];
// Seen at once; the others are behind the fold.
const FIRST = ["tps", "phi", "tau"];
const EVERY_METHODS = ["tps", "tau", "ttft", "written", "took"];
const OF_TIME = ["tps", "ttft", "took", "overlap", "phi"];

export function iterationNumbers(state) {
  const iteration = state.iterations[state.shown];
  if (!iteration) return {};
  const { budget, longest, theta, sequences, committed } = iteration;
  const { begin, end } = spanOf(state.iterations, state.shown);
  return { written: committed.length, took: end - begin, k: sequences, gamma: budget, longest, theta };
}

// Of a run that goes on they are those so far, also where what is shown lags behind.
export function runNumbers(state) {
  const last = state.iterations.length - 1;
  const numbers = (state.end && state.metrics) || runningNumbers(state, last);
  // The prompt's pass alone says nothing of a speed.
  if (isLive(state) && last < 1) Object.assign(numbers, { tps: null, tau: null });
  return { ...numbers, phi: speedUp(state, numbers) };
}

// Whether a figure is shown: none of times that are not known; φ where it is known; any other before a run, and after
// that where the method has it, and the overlap where both can be busy at once.
export function isTold(name, numbers, header) {
  if (!isTimed(header) && OF_TIME.includes(name)) return false;
  if (name === "phi") return known(numbers.phi);
  if (!header) return true;
  if (name === "overlap" && !header.can_overlap) return false;
  return EVERY_METHODS.includes(name) || aboutOf(header).numbers.includes(name);
}

function createGroup(title, entries) {
  const heading = el("h4", { class: "dv-subheading" }, title);
  const [row, meanings] = [el("div", { class: "dv-number-row" }), el("ul", {})];
  const parts = entries.map(([name, write]) => {
    const [label, meaning] = MEANINGS[name];
    const value = el("span", { class: "dv-number-value", "data-number": name }, "–");
    const look = FIRST.includes(name) ? "dv-number" : "dv-number dv-more-number";
    // Its symbol is for those who want all numbers.
    const [words, symbol = ""] = label.split(/(?= \()/);
    const said = el("span", { class: "dv-number-label" }, words, el("span", { class: "dv-symbol" }, symbol));
    const box = explained(el("div", { class: look }, value, said), meaning);
    const line = el("li", {}, el("b", {}, label), `: ${meaning}`);
    row.append(box);
    meanings.append(line);
    return { name, value, write, box, line };
  });
  return {
    node: el("div", { class: "dv-number-group" }, heading, row),
    heading, meanings, row,
    // awaited: the name of a figure that is being measured.
    draw(numbers, header, awaited = null) {
      for (const { name, value, write, box, line } of parts) {
        setText(value, name === awaited ? "…" : write(numbers[name]));
        box.hidden = line.hidden = name !== awaited && !isTold(name, numbers, header);
      }
    },
  };
}

export function createNumbers({ state }) {
  const run = createGroup("Whole run", OF_THE_RUN);
  const iteration = createGroup("This iteration", OF_THE_ITERATION);
  const runner = () => document.getElementById("run-vanilla");
  const vanilla = button({ class: "dv-button dv-run-vanilla", title: "Runs the large model alone: its speed gives the speed-up φ" }, () => runner().click(), "How much faster than alone?");
  run.row.append(vanilla);
  const mean = run.row.querySelector("[data-number=phi] + *").appendChild(el("small"));
  return {
    node: section("numbers", "Numbers", run.node, iteration.node),
    meanings: [run.meanings, iteration.meanings],
    draw() {
      setText(run.heading, isLive(state) ? "The run so far" : "Whole run");
      const numbers = runNumbers(state);
      run.draw(numbers, state.header, state.isCompared ? "phi" : null);
      setText(mean, state.isCompared ? "is being measured" : state.average ? `one run; the Lab's mean: ${measuredWords(state.average)}` : "one run each");
      // A race has its own vanilla.
      vanilla.hidden = vanilla.closest(".dv-insides") !== null || known(numbers.phi) || state.isCompared || !isComparable(state) || state.recorded || !runner();
      iteration.draw(iterationNumbers(state), state.header);
    },
  };
}
