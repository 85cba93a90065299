// What the race comes to, in words: who leads, who was faster, whether both texts are the same, what φ compares with,
// and why it went as it did.

import { el, setText } from "../visualizer/dom.js";
import { count, duration, fixed } from "../visualizer/words.js";
import { hasEnded } from "./clock.js";
import { createFigures } from "./figures.js";
import { sidesOf, tokensOf, writtenBy } from "./model.js";

const VERDICT_WORDS = { equal: "✓ Equal", tie: "≈ Tie", defect: "✗ Defect", incomparable: "– Not compared" };

function verdictNode(verdict) {
  return el("p", { class: "dv-verdict", "data-verdict": verdict.verdict }, el("b", {}, `${VERDICT_WORDS[verdict.verdict]}.`), ` ${verdict.sentence}`);
}

export function baselineWords({ all, target }) {
  const told = all ? [`φ is the speed-up over the fastest vanilla here, in the same precision: ${fixed(all.tps, 1)} tokens/s on ${all.device}.`]
    : ["The speed-up φ was not measured: vanilla did not run."];
  told.push(target ? `Like for like, on the cores of DuoDecoding's target: ${fixed(target.tps, 1)} tokens/s on ${target.device}.`
    : "To compare with vanilla on the cores of DuoDecoding's target, press “Like for like”: one more run.");
  return told.join(" ");
}

const reasonNode = (sentence) => el("li", sentence.startsWith("Estimate:") ? { class: "dv-estimate" } : {}, sentence);

// Who has written more so far.
function leadWords(race) {
  const sides = sidesOf(race);
  if (sides.length < 2 || !sides.every(tokensOf)) return "";
  const [first, second] = sides.map(writtenBy);
  const time = duration(race.clock);
  if (first === second) return `After ${time}: both have written ${count(first, "token")}.`;
  return `After ${time}: ${sides[first > second ? 0 : 1].name} is ${count(Math.abs(first - second), "token")} ahead.`;
}

// Who leads at the replay's time; at the finish, who was faster.
export function headlineOf(race) {
  if (race.phase === "running" || !race.result) return "";
  return hasEnded(race) ? race.result.disturbance ?? race.result.headline ?? "" : leadWords(race);
}

export function createFinish(context) {
  const { race } = context;
  const figures = createFigures(context);
  const headline = el("p", { class: "dv-headline" });
  const verdict = el("div", { class: "dv-verdict-place" });
  const baselines = el("p", { class: "dv-note dv-baselines" });
  const reasons = el("ul", { class: "dv-reasons" });
  const why = el("details", { class: "dv-why" }, el("summary", {}, "Why?"), reasons, baselines);
  const node = el("section", { class: "dv-section dv-finish", "aria-label": "Result" }, headline, verdict, figures.node);
  let shown = null;
  const tell = () => {
    shown = race.result;
    verdict.replaceChildren(...(shown?.verdict ? [verdictNode(shown.verdict)] : []));
    baselines.textContent = shown ? baselineWords(shown.baselines) : "";
    reasons.replaceChildren(...(shown?.sentences ?? []).map(reasonNode));
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
