// What the race comes to: both sides' figures, who was faster, whether the texts are the same, and why.

import { el, setText } from "../visualizer/dom.js";
import { runningNumbers } from "../visualizer/state.js";
import { count, duration, fixed, known } from "../visualizer/words.js";
import { countersOf, headOf, roundsByCores } from "./column.js";
import { hasEnded, sidesOf, tokensOf, writtenBy } from "./model.js";

// [name, label, how it is written]; φ is known at the end alone.
const FIGURES = [
  ["tps", "tokens/s", (value) => fixed(value, 1)],
  ["ttft", "first token", duration],
  ["tau", "tokens per pass (τ)", (value) => fixed(value, 2)],
  ["phi", "× as fast as alone (φ)", (value) => fixed(value, 2)],
  ["phi_same_cores", "the same on equal cores", (value) => fixed(value, 2)],
];

const SPREADS = { tps: ["tps_lowest", "tps_highest", 1], phi: ["phi_lowest", "phi_highest", 2] };

// From the lowest to the highest round; "" where there is one, or where an older file does not tell.
function spreadWords(figures, name) {
  const [low, high, digits] = SPREADS[name] ?? [];
  const isTold = figures?.runs > 1 && known(figures[low]) && figures[low] !== figures[high];
  return isTold ? `${fixed(figures[low], digits)} to ${fixed(figures[high], digits)}` : "";
}

function roundsWords(runs) {
  if (Math.max(...runs) <= 1) return "One round";
  return `${[...new Set(runs)].join(" and ")} rounds: all tokens over all seconds; beside it, the lowest to the highest round. Another race may fall outside this range.`;
}

// Of each side at the replay's time, and at the finish of all its rounds.
function createFigures({ race }) {
  const [rounds, head, body] = ["caption", "tr", "tbody"].map((tag) => el(tag));
  let drawn = "";
  return {
    node: el("table", { class: "dv-figures" }, rounds, el("thead", {}, head), body),
    draw() {
      const sides = sidesOf(race);
      const finals = sides.map((_, place) => (hasEnded(race) ? race.result?.lanes[place].figures : null));
      const soFar = (lane) => ({ ...runningNumbers(lane.state, lane.state.shown), tps: countersOf(race, lane).tps });
      const figures = sides.map((lane, place) => finals[place] ?? soFar(lane));
      const onEqualCores = race.result?.baselines.target ?? null;
      const cores = sides.map(roundsByCores);
      const key = JSON.stringify([race.epoch, finals, figures, onEqualCores, cores]);
      if (key === drawn) return;
      drawn = key;
      head.replaceChildren(el("td"), ...sides.map((lane, place) => el("th", { scope: "col" }, ...headOf(lane, place))));
      const rows = FIGURES.filter(([name]) => name !== "phi_same_cores" || onEqualCores);
      body.replaceChildren(...rows.map(([name, label, written]) => (
        el("tr", { "data-row": name }, el("th", { scope: "row" }, name === "tps" && finals[0]?.runs > 1 ? `${label} (all rounds)` : label), ...figures.map((each, place) => (
          el("td", {}, el("span", { "data-figure": name }, written(each[name])), " ", el("small", {}, spreadWords(finals[place], name)))))))));
      if (cores.some(Boolean)) body.append(el("tr", { "data-row": "cores" }, el("th", { scope: "row" }, "the large model's cores"), ...cores.map((words) => el("td", {}, el("small", {}, words || "the same in all rounds")))));
      setText(rounds, hasEnded(race) && race.result ? roundsWords(finals.map((each) => each?.runs ?? 0)) : "So far");
    },
  };
}

const VERDICT_WORDS = { equal: "✓ Equal", tie: "≈ Tie", defect: "✗ Defect", incomparable: "– Not compared" };

const verdictNode = ({ verdict, sentence }) => (
  el("p", { class: "dv-verdict", "data-verdict": verdict }, el("b", {}, `${VERDICT_WORDS[verdict]}.`), ` ${sentence}`));

// isEqual: both sides' targets have the same cores already.
function baselineWords({ all, target }, isEqual) {
  const told = all ? [`φ is the speed-up over the fastest vanilla here, in the same precision: ${fixed(all.tps, 1)} tokens/s on ${all.device}.`]
    : ["The speed-up φ was not measured: vanilla did not run."];
  if (target || !isEqual) told.push(target ? `Vanilla on the cores of DuoDecoding's target: ${fixed(target.tps, 1)} tokens/s on ${target.device}.`
    : "To compare with vanilla on the cores of DuoDecoding's target, press “Equal cores”: one more run.");
  return told.join(" ");
}

function leadWords(race) {
  const sides = sidesOf(race);
  if (sides.length < 2 || !sides.every(tokensOf)) return "";
  const [first, second] = sides.map(writtenBy);
  const time = duration(race.clock);
  if (first === second) return `After ${time}: both have written ${count(first, "token")}.`;
  const [ahead, behind] = first > second ? sides : sides.toReversed();
  const left = count(Math.abs(first - second), "token");
  return `After ${time}: ${ahead.name} ${writtenBy(ahead) < tokensOf(ahead) ? `is ${left} ahead` : `has finished, ${behind.name} is ${left} behind`}.`;
}

export function headlineOf(race) {
  if (race.phase === "running" || !race.result) return "";
  return hasEnded(race) ? race.result.disturbance ?? race.result.headline ?? "" : leadWords(race);
}

export function createFinish(context) {
  const { race, options: { measured } } = context;
  const figures = createFigures(context);
  const headline = el("p", { class: "dv-headline" });
  const verdict = el("div", { class: "dv-verdict-place" });
  const baselines = el("p", { class: "dv-note dv-baselines" });
  const reasons = el("ul", { class: "dv-reasons" });
  const question = el("summary");
  const why = el("details", { class: "dv-why" }, question, reasons, baselines);
  const node = el("section", { class: "dv-section dv-finish", "aria-label": "Result" }, headline, verdict, figures.node);
  let shown = null;
  const tell = () => {
    shown = race.result;
    const warnings = shown?.warnings?.map((words) => el("p", { class: "dv-message", "data-kind": "disturbance" }, words)) ?? [];
    verdict.replaceChildren(...warnings, ...(shown?.verdict ? [verdictNode(shown.verdict)] : []));
    setText(question, shown?.lanes.some(({ figures: each }) => each?.runs > 1) ? "Why? (of the median round)" : "Why?");
    baselines.textContent = shown ? baselineWords(shown.baselines, new Set(shown.lanes.slice(0, 2).map(({ device }) => device)).size === 1) : "";
    reasons.replaceChildren(...(shown?.sentences ?? []).map((sentence) => (
      sentence.startsWith("Estimate:") ? el("li", { class: "dv-estimate" }, `${sentence} ${measured ?? ""}`) : el("li", {}, sentence))));
  };
  return {
    node,
    why,
    draw() {
      figures.draw();
      const ended = hasEnded(race) && Boolean(race.result);
      setText(headline, headlineOf(race));
      headline.dataset.kind = ended && race.result.disturbance ? "disturbance" : "result";
      if (race.result !== shown) tell();
      verdict.style.visibility = ended ? "visible" : "hidden";
      why.hidden = !ended || !shown.sentences.length;
    },
  };
}
