// The message line and the legend.

import { el, section, setText } from "./dom.js";
import { MARKS } from "./words.js";
import { aboutOf, allProposers, TARGET } from "./methods.js";

const NOTHING_YET = "Nothing has run yet. Start a run, and each step of the two models appears here as it happens: "
  + "the text, the tokens that the draft proposes, and what the target makes of them.";

export function createMessage({ state }) {
  const node = el("p", { class: "dv-message", role: "status" });
  return {
    node,
    draw() {
      setText(node, state.message || (state.phase === "empty" ? NOTHING_YET : "Waiting for the first tokens."));
      node.setAttribute("data-kind", state.phase === "error" ? "error" : "status");
    },
  };
}

const STATUSES = [
  ["pending", "proposed, not yet checked"], ["accepted", "the target agrees"], ["rejected", "the target disagrees"],
  ["discarded", "hung on a rejected token or on a branch not taken"],
  ["correction", "the target's own token"], ["window", "Lookahead's guess in the making"],
];
// Before a run, all that there is.
function legendEntries(header) {
  const { proposers, statuses } = aboutOf(header);
  const sources = header ? [...proposers, TARGET] : allProposers();
  const entries = sources.map(({ id, token }) => el("li", {}, el("span", { class: "dv-sample", "data-source": id }, "abc"), ` ${token}`));
  for (const [status, words] of STATUSES.filter(([name]) => !header || statuses.includes(name))) {
    entries.push(el("li", {}, el("span", { class: "dv-legend-mark", "data-status": status }, MARKS[status]), " ", el("b", {}, status), ` ${words}`));
  }
  for (const { counts } of sources) if (counts) entries.push(el("li", {}, el("b", {}, "×3"), ` ${counts}`));
  return entries;
}

export function createLegend({ state }) {
  const list = el("ul", { class: "dv-legend-list" }, ...legendEntries(null));
  let told = null;
  return {
    node: section("legend", "Legend", list),
    draw() {
      if (state.header !== told) list.replaceChildren(...legendEntries(state.header));
      told = state.header;
    },
  };
}
