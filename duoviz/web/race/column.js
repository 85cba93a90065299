// One side of the race: what ran where, its text as far as the clock has come, and its figures at the finish.

import { el, setText, svg } from "../visualizer/dom.js";
import { count, duration, fixed, quote } from "../visualizer/words.js";
import { createText } from "../visualizer/text.js";
import { canReplay } from "./clock.js";
import { sidesOf, tokensOf, wallOf, writtenBy } from "./model.js";

const WAITING = "Waiting: each method runs alone.";

const spread = ({ runs, tps_lowest: low, tps_highest: high }) => (runs > 1 ? `, ${fixed(low, 1)} to ${fixed(high, 1)} in ${runs} rounds` : "");

// [name, value, label] of each figure; `figures` is the lane's line of the table, medians over its rounds.
export function finishFigures(figures, baselines) {
  const over = (baseline) => (baseline ? `vanilla on ${withoutProcessor(baseline.device)}` : "vanilla, not measured");
  return [
    ["tokens", fixed(figures.tokens, 0), "tokens"],
    ["seconds", duration(figures.seconds), "in all"],
    ["tps", fixed(figures.tps, 1), `tokens/s${spread(figures)}`],
    ["ttft", duration(figures.ttft), "time to first token"],
    ["tau", fixed(figures.tau, 2), "τ tokens per target forward"],
    ["phi", fixed(figures.phi, 2), `φ speed-up over ${over(baselines.all)}`],
    ["phi_same_cores", fixed(figures.phi_same_cores, 2), baselines.target ? `φ like for like: over ${over(baselines.target)}` : "φ like for like, not measured"],
  ];
}

export const withoutProcessor = (device) => String(device).replace(/ \(.*\)$/, "");

// The line that stands for a lane in the chart, beside its name.
export function swatch(place) {
  const drawing = svg("svg", { class: "dv-swatch", width: 28, height: 10, "aria-hidden": "true" });
  drawing.append(svg("line", { class: "dv-curve", "data-place": place, x1: 1, x2: 27, y1: 5, y2: 5 }));
  return drawing;
}

function deviceWords({ header }) {
  if (!header) return WAITING;
  return `target on ${header.target.device}${header.draft ? `, draft on ${header.draft.device}` : ""}`;
}

function tallyWords(race, lane) {
  const now = count(writtenBy(lane), "token");
  if (!canReplay(race)) return lane.state.header ? `${now} in ${duration(wallOf(lane))}` : "";
  if (race.clock < wallOf(lane)) return `${now} of ${tokensOf(lane)}`;
  const others = sidesOf(race).filter((each) => each !== lane && tokensOf(each));
  const first = !race.result?.disturbance && tokensOf(lane) && others.length && others.every((each) => wallOf(each) > wallOf(lane));
  return `${now}, finished at ${duration(wallOf(lane))}${first ? " ✓ first" : ""}`;
}

export function createColumn(lane, place, { race, actions, twin, lookAt }) {
  const choose = (position) => {
    actions.setClock(lane.state.iterations[position].sync);
    lookAt(lane, position);
  };
  const text = createText({ state: lane.state, choose });
  const [device, tally] = [el("p", { class: "dv-note dv-device" }), el("p", { class: "dv-tally" })];
  const problem = el("p", { class: "dv-message", "data-kind": "error", role: "alert" });
  const figures = el("div", { class: "dv-number-row" });
  const node = el("article", { class: "dv-side", "data-lane": lane.name, "aria-label": lane.name },
    el("h3", { class: "dv-side-name" }, swatch(place), ` ${lane.name}`), device, tally, problem, text.node, figures);
  const tokens = () => node.querySelectorAll(".dv-token");
  node.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".dv-token");
    twin(token ? Array.from(tokens()).indexOf(token) : -1);
  });
  node.addEventListener("pointerleave", () => twin(-1));
  let shown = null;
  return {
    node,
    highlight: (position, on) => text.highlight(position, on),
    mark: (token, on) => tokens()[token]?.classList.toggle("dv-twin", on),
    draw() {
      text.draw();
      setText(device, deviceWords(lane.state));
      setText(tally, tallyWords(race, lane));
      setText(problem, lane.error ?? "");
      problem.hidden = !lane.error;
      Object.assign(node.dataset, { tokens: tokensOf(lane), written: writtenBy(lane) });
      const line = race.result?.lanes[place].figures;
      if (race.result === shown) return;
      shown = race.result;
      figures.replaceChildren(...(line ? finishFigures(line, race.result.baselines) : []).map(([name, value, label]) => (
        el("div", { class: "dv-number" }, el("span", { class: "dv-number-value", "data-figure": name }, value), el("span", { class: "dv-number-label" }, label))
      )));
    },
    settle: () => text.settle?.(),
  };
}

// When each side wrote the token with this number, from 0.
export function twinWords(race, token) {
  const found = sidesOf(race).map((lane) => {
    const position = lane.state.totals.findIndex(({ tokens }) => tokens > token);
    if (position < 0) return null;
    const { sync, committed } = lane.state.iterations[position];
    return { lane, sync, text: committed[committed.length - (lane.state.totals[position].tokens - token)].text };
  }).filter(Boolean);
  return found.length ? `Token ${token + 1}: ${found.map(({ lane, sync, text }) => `${lane.name} wrote ${quote(text)} at ${duration(sync)}`).join(", ")}.` : "";
}
