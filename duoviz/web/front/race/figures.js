// Both sides' figures side by side: of the run shown as far as the clock has come, at its end medians over all rounds.

import { el, setText } from "../visualizer/dom.js";
import { runningNumbers } from "../visualizer/state.js";
import { duration, fixed } from "../visualizer/words.js";
import { hasEnded } from "./clock.js";
import { sidesOf } from "./model.js";
import { countersOf, swatch } from "./column.js";

// [name, label, how it is written]; φ is known at the end alone.
const FIGURES = [
  ["tps", "tokens/s", (value) => fixed(value, 1)],
  ["ttft", "first token", duration],
  ["tau", "τ, tokens per forward pass", (value) => fixed(value, 2)],
  ["phi", "φ, speed-up over vanilla", (value) => fixed(value, 2)],
  ["phi_same_cores", "φ like for like", (value) => fixed(value, 2)],
];

export function soFar(race, lane) {
  const { tau, ttft } = runningNumbers(lane.state, lane.state.shown);
  return { tau, ttft, tps: countersOf(race, lane).tps };
}

export const spreadWords = ({ runs, tps_lowest: low, tps_highest: high }) => (runs > 1 ? `${fixed(low, 1)} to ${fixed(high, 1)}` : "");

// runs: how many rounds count, of each side.
export function roundsWords(runs) {
  if (Math.max(...runs) <= 1) return "One round";
  return `Medians of ${[...new Set(runs)].join(" and ")} rounds, and φ between these; tokens/s from the slowest to the fastest`;
}

export function createFigures({ race }) {
  const [rounds, head, body] = ["caption", "tr", "tbody"].map((tag) => el(tag));
  const node = el("table", { class: "dv-figures" }, rounds, el("thead", {}, head), body);
  let [lanes, cells] = [null, []];
  const setUp = () => {
    lanes = race.lanes;
    const sides = sidesOf(race);
    head.replaceChildren(el("td"), ...sides.map((lane, place) => el("th", { scope: "col" }, swatch(place), ` ${lane.name}`)));
    cells = FIGURES.map(([name]) => sides.map(() => ({ value: el("span", { "data-figure": name }), spread: el("small") })));
    body.replaceChildren(...FIGURES.map(([name, label], row) => (
      el("tr", { "data-row": name }, el("th", { scope: "row" }, label), ...cells[row].map(({ value, spread }) => el("td", {}, value, " ", spread)))
    )));
  };
  return {
    node,
    draw() {
      if (lanes !== race.lanes) setUp();
      const result = hasEnded(race) ? race.result : null;
      sidesOf(race).forEach((lane, place) => {
        const final = result?.lanes[place].figures;
        const figures = final ?? soFar(race, lane);
        FIGURES.forEach(([name, , written], row) => setText(cells[row][place].value, written(figures[name])));
        setText(cells[0][place].spread, final ? spreadWords(final) : "");
      });
      body.querySelector("[data-row=phi_same_cores]").hidden = !race.result?.baselines.target;
      setText(rounds, result ? roundsWords(sidesOf(race).map((lane, place) => result.lanes[place].figures?.runs ?? 0)) : "So far");
    },
  };
}
