// The end of a game: the visitor's figures beside the draft's, and a link to the same rounds.

import { fragmentOf, readWhole } from "../share/link.js";
import { el } from "../visualizer/dom.js";
import { copyTools } from "../visualizer/export.js";
import {
  costsOf, costsWords, paceWords, perForwardWords, shareWords, speedWords, stopsWords, summary,
} from "./score.js";

export const seedIn = (hash) => readWhole(new URLSearchParams(hash.slice(1)).get("draft") ?? "") ?? null;

export const leadsToLesson = (hash) => new URLSearchParams(hash.slice(1)).has("lesson");

export const fragmentTo = (seed) => fragmentOf({ tab: "learn", fields: {}, draft: seed });

export const newSeed = () => 1 + Math.floor(9999 * Math.random());

const row = (name, ...cells) => (
  el("tr", {}, el("th", { scope: "row" }, name), ...cells.map((cell) => el("td", {}, cell)))
);
const headings = (...names) => el("thead", {}, el("tr", {}, el("td"), ...names.map((name) => el("th", { scope: "col" }, name))));

function figureTable(both, sums, costs) {
  return el("table", { class: "dg-figures" }, headings("You", "Small model"), el("tbody", {},
    row("Acceptance, up to the first wrong guess", ...sums.map(shareWords)), row("Tokens per pass", ...sums.map(perForwardWords)),
    row("Times as fast as the large model alone", ...both.map((each) => speedWords(each, costs)))));
}

function roundTable(verdicts, drafted) {
  const cells = (each) => each.map(({ tokens }) => String(tokens));
  return el("table", { class: "dg-rounds" }, el("caption", {}, "Tokens written in each round"),
    headings(...verdicts.map((verdict, index) => String(index + 1))),
    el("tbody", {}, row("You", ...cells(verdicts)), row("Small model", ...cells(drafted))));
}

// game: {trace, seed, verdicts, drafted, seconds}, `seconds` for one guess. tools: more buttons.
export function endNode({ trace: { header }, seed, verdicts, drafted, seconds }, tools) {
  const both = [verdicts, drafted];
  const [mine, draft] = both.map(summary);
  const costs = costsOf(header);
  const said = [stopsWords(mine), ...paceWords(verdicts, drafted, costs, seconds)].filter(Boolean);
  const link = el("input", { class: "dl-copied", readonly: "", "aria-label": "Link to these rounds" });
  const address = `${location.origin}${location.pathname}${fragmentTo(seed)}`;
  const { button, told } = copyTools("Copy link to these rounds", link, () => address, "Link copied. It opens the same rounds.");
  return el("div", { class: "dg-end" },
    el("h4", { class: "dg-asked", tabindex: "-1" },
      `You: ${perForwardWords(mine)} tokens per pass. The small model: ${perForwardWords(draft)}.`),
    figureTable(both, [mine, draft], costs), ...said.map((sentence) => el("p", {}, sentence)),
    roundTable(verdicts, drafted),
    el("p", { class: "dl-note" }, costsWords(costs, header)), el("div", { class: "dg-tools" }, ...tools, button), link, told);
}
