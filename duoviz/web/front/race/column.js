// One side of the race: what ran where, how far it has come in large figures, and its text.

import { el, setText, svg } from "../visualizer/dom.js";
import { colorOf } from "../visualizer/methods.js";
import { capital, count, duration, fixed, quote } from "../visualizer/words.js";
import { coresOf } from "../visualizer/origin.js";
import { createText } from "../visualizer/text.js";
import { canReplay, sidesOf, tokensOf, wallOf, writtenBy } from "./model.js";

const WAITING = "Waiting: each method runs alone.";
export const headOf = (lane, place) => [swatch(lane, place), ` ${capital(lane.name.replace(/^the /, ""))}`];

// A lane's line: its method's colour, and its place's dashes.
export const curve = (tag, { method }, place, more) => (
  svg(tag, { class: "dv-curve", "data-place": place, stroke: colorOf(method), ...more }));

function swatch(lane, place) {
  const line = curve("line", lane, place, { x1: 1, x2: 27, y1: 5, y2: 5 });
  return svg("svg", { class: "dv-swatch", width: 28, height: 10, "aria-hidden": "true" }, line);
}

export function deviceWords({ state: { header } }) {
  if (!header) return WAITING;
  return [`large model on ${coresOf(header.target)}`, ...(header.draft ? [`small model on ${coresOf(header.draft)}`] : [])].join("; ");
}

// On which cores the large model was in how many rounds; "" where all were alike.
export function roundsByCores({ runs }) {
  const all = [...runs.values()].filter(({ header }) => header);
  const each = [...new Set(all.map(({ header }) => coresOf(header.target)))];
  const words = (cores) => {
    const mine = all.filter(({ header }) => coresOf(header.target) === cores);
    const tokens = mine.flatMap(({ iterations }) => iterations.flatMap(({ committed }) => committed)).length;
    const seconds = mine.reduce((sum, { iterations }) => sum + (iterations.at(-1)?.sync ?? 0), 0);
    return `${cores}: ${count(mine.length, "round")}${seconds ? `, ${fixed(tokens / seconds, 1)} tokens/s` : ""}`;
  };
  return each.length < 2 ? "" : each.map(words).join("; ");
}

// Why the sides have not the same cores; "" where they have, or where the visitor chose.
export function coresWords(race) {
  const headers = sidesOf(race).map(({ state }) => state.header);
  const at = headers.findIndex((header) => header?.draft && header.draft.device !== header.target.device);
  const isChosen = headers.some((header) => (header?.settings.cores ?? "auto") !== "auto");
  const differ = (of) => new Set(headers.map(of)).size > 1;
  if (at < 0 || isChosen || !differ((header) => `${header?.target.device}, ${header?.draft?.device}`)) return "";
  const { name } = sidesOf(race)[at];
  const lends = headers[at].target.borrows ? " and lends it to the large one while that waits" : "";
  const equal = differ((header) => header?.target.device)
    ? " “Equal cores” adds the large model alone on only the cores that DuoDecoding's has." : "";
  return `Each run takes the cores that were the fastest for its method so far; ${name} keeps one for its small model${lends}.${equal}`;
}

const WHOLE = new Set(["eos", "length", "context"]);

// How the side stands at the replay's time: cut, or finished, and whether before all others that wrote anything.
export function standing(race, lane) {
  if (!canReplay(race) || !tokensOf(lane) || race.clock < wallOf(lane)) return "";
  if (!WHOLE.has(lane.state.end?.stopped)) return "cut short";
  const others = sidesOf(race).filter((each) => each !== lane && tokensOf(each));
  return !race.result?.disturbance && others.length && others.every((each) => wallOf(each) > wallOf(lane)) ? "first" : "finished";
}

export function countersOf(race, lane) {
  const tokens = writtenBy(lane);
  const seconds = race.phase === "running" ? wallOf(lane) : Math.min(race.clock, wallOf(lane));
  return { tokens, seconds, tps: seconds > 0 && tokens ? tokens / seconds : null };
}

// Of parts that are there for each lane, a name that no other has: what it is, then these words.
export function nameParts(node, words) {
  for (const part of node.querySelectorAll("section")) part.setAttribute("aria-label", `${part.getAttribute("aria-label")} ${words}`);
}

export function createColumn(lane, place, { race, actions, twin, lookAt }) {
  const choose = (position) => {
    actions.setClock(lane.state.iterations[position].sync);
    lookAt(place, position);
  };
  const text = createText({ state: lane.state, choose });
  const [tokens, tps, seconds] = ["tokens", "tps", "seconds"].map((name) => el("b", { "data-counter": name }));
  const [rate, round] = [el("span", {}, tps, " tokens/s"), el("span", {}, " (median round)")];
  const counted = el("p", { class: "dv-counters" }, el("span", {}, tokens, " tokens"), rate, el("span", {}, seconds, round));
  const [device, badge] = [el("p", { class: "dv-note dv-device" }), el("span", { class: "dv-tally" })];
  const problem = el("p", { class: "dv-message", "data-kind": "error", role: "alert" });
  const node = el("article", { class: "dv-side", "data-lane": lane.name, "aria-label": lane.name },
    el("h3", { class: "dv-side-name" }, ...headOf(lane, place)), counted, el("div", { class: "dv-side-note" }, device, badge), problem, text.node);
  nameParts(node, `of ${lane.name}`);
  const spans = () => node.querySelectorAll(".dv-token");
  node.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".dv-token");
    twin(token ? Array.from(spans()).indexOf(token) : -1);
  });
  node.addEventListener("pointerleave", () => twin(-1));
  return {
    node,
    highlight: text.highlight,
    mark: (token, on) => spans()[token]?.classList.toggle("dv-twin", on),
    draw() {
      text.draw();
      const now = countersOf(race, lane);
      setText(tokens, String(now.tokens));
      setText(tps, fixed(now.tps, 1));
      // Of several rounds the median one is shown; the table has the speed of all.
      const isMedian = canReplay(race) && race.result?.lanes[place].figures?.runs > 1;
      [rate.hidden, round.hidden] = [isMedian, !isMedian];
      setText(seconds, duration(now.seconds || null));
      setText(device, deviceWords(lane));
      setText(badge, standing(race, lane));
      setText(problem, lane.error ?? "");
      problem.hidden = !lane.error;
      node.dataset.tokens = tokensOf(lane);
    },
    settle: text.settle,
  };
}

export function twinWords(race, token) {
  const found = sidesOf(race).map((lane) => {
    const position = lane.state.totals.findIndex(({ tokens }) => tokens > token);
    if (position < 0) return null;
    const { sync, committed } = lane.state.iterations[position];
    return { lane, sync, text: committed.at(token - lane.state.totals[position].tokens).text };
  }).filter(Boolean);
  return found.length ? `Token ${token + 1}: ${found.map(({ lane, sync, text }) => `${lane.name} wrote ${quote(text)} at ${duration(sync)}`).join(", ")}.` : "";
}
