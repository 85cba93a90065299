// How the tree's nodes look at a moment, how they move from tree to tree, and into the text.

import { el } from "./dom.js";
import { COLUMN_GAP } from "./layout.js";
import { lookAt, timesOf } from "./moments.js";
import { createMotion } from "./motion.js";
import { nodesOf } from "./sentence.js";
import { sendingOf, wantsNoMotion } from "./player.js";
import { known, MARKS } from "./words.js";

const MOVE = { duration: 350, easing: "ease-out" };

export function createLooks(drawing) {
  let [drawn, last] = [[], null];
  const show = (entry, look) => {
    if (entry.look === look) return;
    entry.look = look;
    for (const part of [entry.group, entry.edge].filter(Boolean)) {
      part.dataset.status = look === "unborn" ? "pending" : look;
      part.classList.toggle("dv-unborn", look === "unborn");
    }
    entry.group.querySelector(".dv-mark").textContent = MARKS[look] ?? "";
  };
  const isKept = ({ taken, fate }) => taken && fate === "pending";
  const livesOn = ({ list, fate }) => list === "rest" && fate === "pending";
  const isWrong = ({ fate }) => ["rejected", "discarded", "unchecked"].includes(fate);
  const leavingClass = (entry, keeps) => (isWrong(entry) ? "dv-fallen" : keeps ? "dv-leaving" : "dv-left");
  // The branch that was taken goes to where the next iteration has it, what was not right falls, and what has become
  // text leaves the place to the branch, or stays as a trace where there is none.
  const leave = (entry, next, { right, lineHeight, keeps }) => {
    if (livesOn(entry)) return;
    if (!isKept(entry)) {
      return [entry.group, entry.edge].forEach((part) => part?.classList.add(leavingClass(entry, keeps)));
    }
    entry.edge?.classList.add("dv-leaving");
    if (next.x + entry.width > right) Object.assign(next, { x: COLUMN_GAP, y: next.y + lineHeight });
    entry.group.style.transform = `translate(${next.x}px, ${next.y}px)`;
    next.x += entry.width + COLUMN_GAP;
  };
  return {
    // Of a living tree, what was there before comes from where it stood then, so that the eye can follow it.
    begin(items, iteration, header, isShown) {
      const times = Object.fromEntries(["checked", "rest", "drafted"].map((list) => [list, timesOf(iteration, list, header)]));
      const before = iteration.index === last?.index + 1 && isShown && !wantsNoMotion() ? drawn : [];
      const numberOf = ({ list, index }) => ({ checked: index, rest: last.checked.length + index })[list];
      drawn = items.filter((item) => item.node).map((item) => {
        const { list, index, fate } = item;
        const [group, edge] = ["g.dv-node", "path.dv-edge"].map((part) => drawing.querySelector(`${part}[data-list="${list}"][data-index="${index}"]`));
        return { ...item, group, edge, times: times[list][index], look: fate };
      });
      for (const entry of drawn) {
        const from = known(entry.node.was) && before.find((each) => numberOf(each) === entry.node.was);
        if (from) entry.group.animate([from, entry].map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` })), MOVE);
      }
      last = iteration;
    },
    at(clock) {
      for (const entry of drawn) {
        const isJudged = clock === null || clock >= entry.times.judged;
        show(entry, isJudged ? entry.fate : lookAt(entry.times, entry.fate, clock));
      }
    },
    leave(start, way) {
      const next = { x: start.x + start.width + COLUMN_GAP, y: start.y };
      const keeps = drawn.some((entry) => isKept(entry) || livesOn(entry));
      for (const entry of drawn) leave(entry, next, { ...way, keeps });
    },
  };
}

// labelOf: gives a node's label in the tree, where it is drawn; spansOf: an iteration's tokens in the text.
export function createFlights(state, { labelOf, spansOf }) {
  const air = el("div", { "class": "dv-air", "aria-hidden": "true" });
  const motion = createMotion(air, false);
  let [iteration, coming, sent] = [null, [], 0];
  const land = (span, flying) => {
    span.classList.remove("dv-coming");
    flying?.remove();
  };
  const begin = () => {
    iteration = state.iterations[state.shown];
    const [nodes, spans] = [nodesOf(iteration), spansOf(state.shown)];
    coming = spans.map((span, order) => ({ span, label: nodes[order] && labelOf(nodes[order]) }))
      .filter(({ span, label }) => label && span.textContent.trim());
    coming.forEach(({ span }) => span.classList.add("dv-coming"));
    sent = 0;
  };
  const send = ({ span, label }) => {
    // On a narrow page it would cross the figures.
    if (innerWidth <= 900) return land(span);
    const flying = motion.fly(label, span);
    flying.getAnimations()[0].onfinish = () => land(span, flying);
  };
  const end = () => {
    coming.forEach(({ span }) => land(span));
    [iteration, coming] = [null, []];
  };
  return {
    node: air,
    draw() {
      const part = sendingOf(state);
      if (iteration && (part === null || iteration !== state.iterations[state.shown])) end();
      if (part === null) return;
      if (!iteration) begin();
      while (sent < coming.length && sent <= part * coming.length - 1e-9) send(coming[sent++]);
    },
  };
}
