// The figures "coupled draws" and "classical rule": chance that can be repeated, the same for a seed.

import { el, setText, textButton } from "../visualizer/dom.js";
import { fixed, percent } from "../visualizer/words.js";
import { createOutcomes, createSlider, outcomeName } from "./parts.js";

// Uniform numbers between 0 and 1, both excluded (mulberry32).
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (((bits ^ (bits >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
}

export function drawIndex(weights, next) {
  let left = next() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (left -= weight) < 0);
  return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
}

const largest = (values) => values.reduce((best, value, index) => (value > values[best] ? index : best), 0);

const DRAWS_SHOWN = 8;
const DRAWS_COUNTED = 1000;

export function mixed(outcomes, skill) {
  const [from, to] = skill <= 1 ? [() => 1 / outcomes.length, ({ q }) => q] : [({ q }) => q, ({ p }) => p];
  const share = skill <= 1 ? skill : skill - 1;
  return outcomes.map((outcome) => (1 - share) * from(outcome) + share * to(outcome));
}

export function coupledDraws(p, q, count, seed) {
  const next = uniform(seed);
  return Array.from({ length: count }, () => {
    // Exponential: p / noise is largest for one outcome, and for each with its probability.
    const noise = p.map(() => -Math.log(next()));
    const drawn = (shares) => largest(shares.map((share, index) => share / noise[index]));
    return { target: drawn(p), draft: drawn(q) };
  });
}

const skillWords = (skill) => (skill === 0 ? "knows nothing" : skill < 1 ? "worse than the real one" : skill === 1 ? "the real one" : skill < 2 ? "better than the real one" : "as good as the target");

export function coupledFigure({ before, outcomes }) {
  const p = outcomes.map((outcome) => outcome.p);
  const shown = createOutcomes(outcomes, { before });
  const lines = el("div", { class: "dl-draws" });
  const note = el("p", { class: "dl-note", role: "status" });
  // A seed whose eight draws at the recorded place are about as p and q say; with others a rare token may come often.
  let seed = 28, skill = 1;
  const line = (name, chips) => [el("span", {}, name), ...chips.map((text) => el("span", { class: "dl-chip" }, text))];
  const redraw = () => {
    const q = mixed(outcomes, skill);
    shown.setDraft(q);
    const draws = coupledDraws(p, q, DRAWS_SHOWN, seed);
    const texts = draws.map(({ target }) => outcomeName(outcomes[target]));
    const drafted = draws.map(({ target, draft }) => `${outcomeName(outcomes[draft])} ${target === draft ? "✓" : "✗"}`);
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

const AT_ONCE = 1000;

export function drawByRule(outcomes, next) {
  const drafted = drawIndex(outcomes.map(({ q }) => q), next);
  const chance = Math.min(1, outcomes[drafted].p / outcomes[drafted].q);
  if (next() < chance) return { drafted, chance, accepted: true, written: drafted };
  const lacking = outcomes.map(({ p, q }) => Math.max(0, p - q));
  return { drafted, chance, accepted: false, written: drawIndex(lacking, next) };
}

export function story(outcomes, { drafted, chance, accepted, written }) {
  const [one, other] = [drafted, written].map((index) => outcomeName(outcomes[index]));
  const said = `The draft draws ${one}. It may stay with probability ${fixed(chance, 2)}.`;
  return accepted ? `${said} It stays: ${one} ✓.` : `${said} It is rejected ✗. ${other} ➜ is drawn instead.`;
}

export function ruleFigure({ before, outcomes }) {
  const next = uniform(1);
  const counts = outcomes.map(() => 0);
  const shares = outcomes.map(() => el("span", { class: "dl-share" }, "–"));
  const shown = createOutcomes(outcomes, { before, cells: shares, column: "share of the draws" });
  const [told, note] = [el("p", { class: "dl-note", role: "status" }), el("p", { class: "dl-note" }, "Nothing has been drawn yet.")];
  let drawn = 0, accepted = 0;
  const draw = (times) => {
    let last = null;
    for (let time = 0; time < times; time++) {
      last = drawByRule(outcomes, next);
      counts[last.written] += 1;
      accepted += last.accepted;
    }
    drawn += times;
    counts.forEach((number, index) => setText(shares[index], percent(number / drawn)));
    setText(told, times === 1 ? story(outcomes, last) : "");
    setText(note, `${drawn.toLocaleString("en")} drawn, ${percent(accepted / drawn)} of the drafted ones accepted.`);
  };
  const tools = el("div", { class: "dl-tools" }, textButton("Draw one", () => draw(1)), textButton(`Draw ${AT_ONCE.toLocaleString("en")}`, () => draw(AT_ONCE)));
  return { node: el("div", {}, shown.node, tools, told, note) };
}
