// The message line and the legend.

import { el, section, setText } from "./dom.js";
import { MARKS } from "./words.js";

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

const SOURCES = [
  ["draft", "token from the draft"], ["prompt", "token found earlier in the text"], ["datastore", "token from the datastore"],
  ["lookahead", "token guessed by Lookahead"], ["target", "token from the target"],
];
const STATUSES = [
  ["pending", "proposed, not yet checked"], ["accepted", "the target agrees"], ["rejected", "the target disagrees"],
  ["discarded", "hung on a rejected token or on a branch not taken"],
  ["correction", "the target's own token"], ["window", "Lookahead's guess in the making"],
];
// What else but the target a method's tokens come from.
const PROPOSERS = { vanilla: [], speculative: ["draft"], duodecoding: ["draft"], prompt_lookup: ["prompt"], rest: ["datastore"], lookahead: ["lookahead"] };

function legendEntries(method) {
  const proposers = PROPOSERS[method];
  const sources = SOURCES.filter(([source]) => !proposers || source === "target" || proposers.includes(source));
  const isUsed = (status) => {
    if (status === "window") return !proposers || method === "lookahead";
    if (status === "pending") return !proposers || method === "duodecoding";
    return status === "correction" || !proposers || proposers.length;
  };
  const entries = sources.map(([source, words]) => el("li", {}, el("span", { class: "dv-sample", "data-source": source }, "abc"), ` ${words}`));
  for (const [status, words] of STATUSES.filter(([name]) => isUsed(name))) {
    entries.push(el("li", {}, el("span", { class: "dv-legend-mark", "data-status": status }, MARKS[status]), " ", el("b", {}, status), ` ${words}`));
  }
  if (!proposers || method === "rest") entries.push(el("li", {}, el("b", {}, "×3"), " how often the datastore has the token there"));
  return entries;
}

export function createLegend({ state }) {
  const list = el("ul", { class: "dv-legend-list" }, ...legendEntries(null));
  let told = null;
  return {
    node: section("legend", "Legend", list),
    draw() {
      const method = state.header?.method ?? null;
      if (method !== told) list.replaceChildren(...legendEntries(method));
      told = method;
    },
  };
}
