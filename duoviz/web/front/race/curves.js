// Tokens over seconds, one line a lane.

import { el, placeOn, section, setAttributes, svg, watchSize } from "../visualizer/dom.js";
import { count, duration } from "../visualizer/words.js";
import { tickStep } from "../visualizer/timeline.js";
import { canReplay, iterationAt, tokensOf, wallOf } from "./model.js";
import { curve, headOf } from "./column.js";

const [CURVES_HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [176, 30, 12, 10, 24];

function stepPath({ iterations, totals }, toX, toY) {
  const steps = iterations.map((iteration, position) => `H${toX(iteration.sync).toFixed(1)}V${toY(totals[position].tokens).toFixed(1)}`);
  return `M${toX(0).toFixed(1)} ${toY(0).toFixed(1)}${steps.join("")}`;
}

function ticksUpTo(top, wanted) {
  const step = tickStep(top, wanted);
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => +(index * step).toFixed(6));
}

function gridNodes(scale) {
  const rows = ticksUpTo(scale.tokens, Math.min(4, scale.tokens)).flatMap((tokens) => [
    svg("line", { class: "dv-grid-line", x1: LEFT, x2: scale.width - RIGHT, y1: scale.toY(tokens), y2: scale.toY(tokens) }),
    svg("text", { class: "dv-axis", x: LEFT - 6, y: scale.toY(tokens) + 4, "text-anchor": "end" }, String(tokens)),
  ]);
  const columns = ticksUpTo(scale.seconds, Math.max(3, scale.width / 90)).map((seconds) => (
    svg("text", { class: "dv-axis", x: scale.toX(seconds), y: CURVES_HEIGHT - 6, "text-anchor": seconds ? "middle" : "start" }, `${seconds} s`)
  ));
  return [...rows, ...columns];
}

function curveScale(race, width) {
  const seconds = Math.max(1e-3, ...race.lanes.map(wallOf));
  const tokens = Math.max(1, ...race.lanes.map(tokensOf));
  return {
    width, seconds, tokens,
    toX: (time) => LEFT + (time / seconds) * (width - LEFT - RIGHT),
    toY: (number) => CURVES_HEIGHT - BOTTOM - (number / tokens) * (CURVES_HEIGHT - TOP - BOTTOM),
    toTime: (x) => ((x - LEFT) / (width - LEFT - RIGHT)) * seconds,
  };
}

export function momentWords(race, time) {
  const found = race.lanes.filter(tokensOf).map((lane) => `${lane.name} had ${count(lane.state.totals[iterationAt(lane, time)]?.tokens ?? 0, "token")}`);
  return `At ${duration(time)}: ${found.join(", ")}.`;
}

export function createCurves({ race, actions, hoverTime, redraw }) {
  const drawing = svg("svg", { class: "dv-curves", height: CURVES_HEIGHT, role: "img", "aria-label": "Tokens written over time, one line a method" });
  const layer = svg("g");
  const hand = svg("line", { class: "dv-playhead", y1: TOP, y2: CURVES_HEIGHT - BOTTOM });
  const cross = svg("line", { class: "dv-cross", y1: TOP, y2: CURVES_HEIGHT - BOTTOM, visibility: "hidden" });
  const reached = svg("svg", { x: 0, y: 0, height: CURVES_HEIGHT, class: "dv-reached" });
  drawing.append(layer, reached, cross, hand);
  const names = el("ul", { class: "dv-legend-list" });
  let width = 0, drawn = "", scale = null;
  const timeAt = (event) => Math.max(0, scale.toTime(placeOn(drawing, event)[0] * width));
  const reachedBy = (time) => (canReplay(race) ? Math.min(time, race.clock) : time);
  const scrub = (event) => { if (scale && event.buttons === 1) actions.setClock(timeAt(event)); };
  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    scrub(event);
  });
  drawing.addEventListener("pointermove", (event) => {
    scrub(event);
    if (scale && tokensOf(race.lanes[0] ?? { state: { totals: [] } })) hoverTime(reachedBy(timeAt(event)));
  });
  drawing.addEventListener("pointerleave", () => hoverTime(null));
  watchSize(drawing, (now) => { width = now; redraw(); });
  return {
    node: section("race-curves", "Tokens over time", drawing, names),
    showCross(time) {
      const isSeen = scale && time !== null;
      setAttributes(cross, { visibility: isSeen ? "visible" : "hidden", ...(isSeen && { x1: scale.toX(time), x2: scale.toX(time) }) });
    },
    draw() {
      if (!width) return;
      const key = `${race.epoch} ${race.phase} ${width} ${race.lanes.map((lane) => lane.state.iterations.length)}`;
      if (key !== drawn) {
        drawn = key;
        scale = curveScale(race, width);
        const paths = race.lanes.map((lane, place) => curve("path", lane, place, { d: stepPath(lane.state, scale.toX, scale.toY) }));
        layer.replaceChildren(...gridNodes(scale));
        reached.replaceChildren(...paths.reverse());
        names.replaceChildren(...race.lanes.map((lane, place) => el("li", {}, ...headOf(lane, place))));
      }
      const x = scale.toX(race.clock);
      reached.setAttribute("width", canReplay(race) ? x + 1 : width);
      setAttributes(hand, { visibility: canReplay(race) ? "visible" : "hidden", x1: x, x2: x });
    },
  };
}
