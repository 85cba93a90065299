// The legend, and the help: what marks and numbers mean, and the keys.

import { closeDrawer, el, menu, section, setText, textButton } from "./dom.js";
import { aboutOf, allProposers, MODELS, TARGET } from "./methods.js";
import { writtenUpTo } from "./player.js";
import { fateOf, FATES, MARKS } from "./words.js";

const NOTHING_YET = "Nothing has run yet. Press Generate to watch both models step by step: "
  + "the text, the small model's guesses, and which of them the large one accepts.";

export function createMessage({ state }) {
  const [method, message] = [el("b", { class: "dv-method" }), el("p", { class: "dv-message", role: "status" })];
  return {
    node: el("div", { class: "dv-status" }, method, message),
    draw() {
      setText(method, aboutOf(state.asked ? { method: state.asked } : state.header).title);
      method.hidden = !state.asked && (!state.header || state.file !== null);
      const isLater = state.phase === "done" && state.playing && state.file === null && state.moment !== null;
      setText(message, `${isLater ? "The run is over, and replayed slowly. " : ""}${state.message}` || (state.phase === "empty" ? NOTHING_YET : "Waiting for the first tokens."));
      const kind = state.phase === "error" ? "error" : state.phase === "done" && state.end?.message ? "disturbance" : "status";
      message.setAttribute("data-kind", kind);
    },
  };
}

const STATUSES = [
  ["pending", "proposed, not yet checked"], ["accepted", "the large model agrees"], ["rejected", "the large model disagrees"],
  ["discarded", "checked, but it followed a rejected token"],
  ["unchecked", "thrown away before the large model read it"],
  ["correction", "the large model's own token"], ["window", "Lookahead's unfinished guess"],
];

// What stands beside every tree; in a narrow window all does, so that nothing below moves.
const ALWAYS = ["pending", "accepted", "rejected"];

// Until a draft's guesses are judged they are shown as pending, whatever the method; where some then still are, others
// are never checked.
export function statusesOf(header) {
  const { statuses, draft } = aboutOf(header);
  const has = (name) => statuses.includes(name === "unchecked" ? "pending" : name);
  return STATUSES.filter(([name]) => !header || has(name) || (draft && name === "pending"));
}

function legendEntries(header) {
  const { proposers } = aboutOf(header);
  const sources = header ? [...proposers, TARGET] : allProposers();
  const words = (text) => el("span", { class: "dv-words" }, ` ${text}`);
  const entries = sources.map(({ id, token }) => el("li", {}, el("span", { class: "dv-sample", "data-source": id }, "abc"), ` ${MODELS[id] ?? token.replace(/^token from (the )?/, "")}`, el("span", { class: "dv-model" }, MODELS[id] && sources.length < 3 ? ` (${id})` : "")));
  entries.push(el("li", { class: "dv-legend-later" }, el("span", { "class": "dv-sample", "data-source": "later" }, "abc"), " still to come"));
  for (const [status, meaning] of statusesOf(header)) {
    entries.push(el("li", { title: `${status}: ${meaning}` }, el("span", { class: "dv-legend-mark", "data-status": status }, MARKS[status]), " ", el("b", {}, FATES[status]), words(`(${status}): ${meaning}`)));
  }
  for (const { counts } of sources) if (counts) entries.push(el("li", { title: counts }, el("b", {}, "×3"), words(counts)));
  return entries;
}

// The marks that an iteration has.
function marksIn(iteration, header) {
  const lists = ["checked", "rest", "drafted"].map((list) => [list, iteration?.[list] ?? []]);
  return new Set(lists.flatMap(([list, nodes]) => nodes.map((node) => fateOf(list, node, nodes, header))));
}

// Beside the tree only the marks and their names, and of the last ones those that are seen; in the help (`full`) what
// each means.
export function createLegend({ state }) {
  const lists = ["dv-legend-list", "dv-legend-list dv-legend-full"].map((name) => el("ul", { class: name }, ...legendEntries(null)));
  let told = null;
  return {
    node: section("legend", "Legend", lists[0]),
    full: lists[1],
    draw() {
      if (state.header !== told) for (const list of lists) list.replaceChildren(...legendEntries(state.header));
      told = state.header;
      const seen = marksIn(state.iterations[state.shown], state.header);
      for (const mark of lists[0].querySelectorAll("[data-status]")) {
        const { status } = mark.dataset;
        mark.parentElement.classList.toggle("dv-absent", !ALWAYS.includes(status) && !seen.has(status));
      }
      lists[0].toggleAttribute("data-later", writtenUpTo(state) < state.iterations.length - 1);
    },
  };
}

const KEYS = [
  ["space", "play or pause"], ["← →", "step"], ["Home End", "jump"], ["L", "follow the run"], ["+ −", "change the speed"],
  ["W S", "tree: next or previous token; timeline: zoom (also the wheel)"],
  ["A D", "move the tree or the timeline (also by dragging)"],
];
const TIMELINE = "Timeline: the number on a bar is how many tokens that forward pass reads; hatched is idle; violet in the draft's lane: its cores work for the target; shaded is the iteration shown.";

export const PAGE_KEYS = [["F", "present: full screen, larger, no form; F or Esc ends it"]];

export function createHelp({ meanings, legend, pageKeys }) {
  const keys = [...KEYS, ...pageKeys].map(([key, does]) => el("li", {}, el("kbd", {}, key), ` ${does}`));
  const part = (title, ...nodes) => el("div", { class: "dv-meanings" }, el("h4", {}, title), ...nodes);
  const close = textButton("Close", () => closeDrawer(node));
  const node = menu("help", "Help", part("Marks", legend, el("p", { class: "dv-note" }, TIMELINE)),
    part("What these numbers mean", ...meanings), part("Keys", el("ul", {}, ...keys)), close);
  return node;
}
