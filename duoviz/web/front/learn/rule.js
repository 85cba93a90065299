// The figure "classical rule": accept with probability min(1, p/q), else draw what the target still lacks.

import { el, setText, textButton } from "../visualizer/dom.js";
import { fixed, percent } from "../visualizer/words.js";
import { createOutcomes, outcomeName } from "./outcomes.js";
import { drawIndex, uniform } from "./chance.js";

const AT_ONCE = 1000;

// One token by the rule: what was drafted, the chance to accept it, and what stands in the text.
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
  return accepted ? `${said} It stays: ✓ ${one}.` : `${said} It is rejected ✗. ➜ ${other} is drawn instead.`;
}

export function ruleFigure({ before, outcomes }) {
  const next = uniform(1);
  const counts = outcomes.map(() => 0);
  const shares = outcomes.map(() => el("span", { class: "dl-share" }, "–"));
  const shown = createOutcomes(outcomes, { before, extra: (outcome, index) => shares[index], extraName: "share of the text" });
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
