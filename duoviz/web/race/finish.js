// What the race came to, in words: whether both texts are the same, what φ compares with, and why it went as it did.

import { el, section } from "../visualizer/dom.js";
import { fixed } from "../visualizer/words.js";

const VERDICT_WORDS = { equal: "✓ Equal", tie: "≈ Tie", defect: "✗ Defect", incomparable: "– Not compared" };

function verdictNode(verdict) {
  return el("p", { class: "dv-verdict", "data-verdict": verdict.verdict }, el("b", {}, `${VERDICT_WORDS[verdict.verdict]}.`), ` ${verdict.sentence}`);
}

function baselineWords({ all, target }) {
  const told = all ? [`φ is the speed-up over vanilla on all that this machine offers in the same precision: ${fixed(all.tps, 1)} tokens/s on ${all.device}.`]
    : ["The speed-up φ was not measured: vanilla on all that this machine offers did not run."];
  told.push(target ? `Like for like, on what DuoDecoding's target has: ${fixed(target.tps, 1)} tokens/s on ${target.device}.`
    : "The like-for-like figure, over vanilla on what DuoDecoding's target has, is one more run: press “Race like for like”.");
  return told.join(" ");
}

const isEstimate = (sentence) => sentence.startsWith("Estimate:");

function reasonNode(sentence) {
  return el("li", isEstimate(sentence) ? { class: "dv-estimate" } : {}, sentence);
}

export function createFinish({ race }) {
  const verdict = el("div");
  const disturbed = el("p", { class: "dv-disturbed", role: "status" });
  const baselines = el("p", { class: "dv-note dv-baselines" });
  const reasons = el("ul", { class: "dv-reasons" });
  const why = section("race-why", "Why this result?", reasons);
  const node = section("race-finish", "Finish", disturbed, verdict, baselines, why);
  let shown = null;
  return {
    node,
    draw() {
      node.hidden = !race.result;
      if (!race.result || race.result === shown) return;
      shown = race.result;
      verdict.replaceChildren(...(shown.verdict ? [verdictNode(shown.verdict)] : []));
      disturbed.textContent = shown.disturbance ?? "";
      disturbed.hidden = !shown.disturbance;
      baselines.hidden = !disturbed.hidden;
      baselines.textContent = baselineWords(shown.baselines);
      reasons.replaceChildren(...shown.sentences.map(reasonNode));
      why.hidden = !shown.sentences.length;
    },
  };
}
