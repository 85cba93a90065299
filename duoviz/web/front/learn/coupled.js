// The figure "coupled draws": the target's own draw decides, and the draft meets the same noise.

import { el, setText, textButton } from "../visualizer/dom.js";
import { createOutcomes, outcomeName } from "./outcomes.js";
import { exponentials, largest, uniform } from "./chance.js";
import { createSlider } from "./slider.js";

const DRAWS_SHOWN = 8;
const DRAWS_COUNTED = 1000;

// 0: a draft that knows nothing; 1: the real one; 2: one that is as good as the target.
export function mixed(outcomes, skill) {
  const [from, to] = skill <= 1 ? [() => 1 / outcomes.length, ({ q }) => q] : [({ q }) => q, ({ p }) => p];
  const share = skill <= 1 ? skill : skill - 1;
  return outcomes.map((outcome) => (1 - share) * from(outcome) + share * to(outcome));
}

// What both draw at so many positions: the same noise for both.
export function coupledDraws(p, q, count, seed) {
  const next = uniform(seed);
  return Array.from({ length: count }, () => {
    const noise = exponentials(p.length, next);
    const drawn = (shares) => largest(shares.map((share, index) => share / noise[index]));
    return { target: drawn(p), draft: drawn(q) };
  });
}

export const skillWords = (skill) => (skill === 0 ? "knows nothing" : skill < 1 ? "worse than the real one" : skill === 1 ? "the real one" : skill < 2 ? "better than the real one" : "as good as the target");

export function coupledFigure({ before, outcomes }) {
  const p = outcomes.map((outcome) => outcome.p);
  const shown = createOutcomes(outcomes, { before });
  const lines = el("div", { class: "dl-draws" });
  const note = el("p", { class: "dl-note", role: "status" });
  let seed = 1, skill = 1;
  const line = (name, chips) => [el("span", {}, name), ...chips.map((text) => el("span", { class: "dl-chip" }, text))];
  const redraw = () => {
    const q = mixed(outcomes, skill);
    shown.setDraft(q);
    const draws = coupledDraws(p, q, DRAWS_SHOWN, seed);
    const texts = draws.map(({ target }) => outcomeName(outcomes[target]));
    const drafted = draws.map(({ target, draft }) => `${target === draft ? "✓" : "✗"} ${outcomeName(outcomes[draft])}`);
    const half = DRAWS_SHOWN / 2;
    const parts = [0, half].map((from) => [texts, drafted].map((all) => all.slice(from, from + half)));
    lines.replaceChildren(...parts.flatMap(([text, draft]) => [...line("Text", text), ...line("Draft", draft)]));
    const many = coupledDraws(p, q, DRAWS_COUNTED, seed);
    const accepted = many.filter(({ target, draft }) => target === draft).length;
    setText(note, `In ${DRAWS_COUNTED.toLocaleString("en")} such draws, ${accepted} drafted tokens are accepted.`);
  };
  const slider = createSlider({
    label: "Draft", min: 0, max: 2, step: 0.1, value: 1, words: skillWords,
    onMove(value) { skill = value; redraw(); },
  });
  const other = textButton("Other noise", () => { seed += 1; redraw(); });
  return { node: el("div", {}, shown.node, slider.node, lines, note, el("div", { class: "dl-tools" }, other)) };
}
