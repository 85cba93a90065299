// The timeline's drawing: bars, idle time, ends of iterations, axis.

import { setAttributes, svg } from "./dom.js";
import { clip, count, visible } from "./words.js";
import { eachBetween, iterationEndingAt } from "./busy.js";
import { beginOf } from "./state.js";

const MIN_BAR_PX = 3;
const MIN_SYNC_PX = 8;

const LANE_HEIGHT = 22;
const LANES = { target: 17, draft: 57 };

// The lane's bars in view. Neighbours too narrow to tell apart become one bar, which bounds the number of nodes.
function barsInView(lane, { state, toX, view }) {
  const bars = [];
  eachBetween(state.lanes[lane], view.start, view.end, (span) => {
    const last = bars.at(-1);
    const isNarrow = last && (span.end - last.start) * toX.pixels < MIN_BAR_PX;
    if (isNarrow) Object.assign(last, { end: span.end, several: last.several + 1 });
    else bars.push({ ...span, several: 1 });
  });
  return bars;
}

function barTitle(lane, { start, end, position, size, several }) {
  if (several > 1) return `${several} ${lane} bars from iteration ${position}: zoom in to tell them apart`;
  const what = `${lane === "target" ? "target forward pass" : "draft step"}, ${count(size, "token")}`;
  return `Iteration ${position}: ${what}\nstart ${(1000 * start).toFixed(2)} ms, duration ${(1000 * (end - start)).toFixed(2)} ms`;
}

function barNodes(lane, bar, toX) {
  const [x, width] = [toX(bar.start), Math.max(0.75, toX(bar.end) - toX(bar.start))];
  const rect = svg("rect", { class: "dv-bar", x: x.toFixed(2), y: LANES[lane], width: width.toFixed(2), height: LANE_HEIGHT,
    "data-lane": lane, "data-iteration": bar.position, "data-start": bar.start, "data-end": bar.end },
  svg("title", {}, barTitle(lane, bar)));
  const text = bar.several > 1 ? "" : String(bar.size);
  const [left, right] = [Math.max(0, x), Math.min(toX.width, x + width)];
  if (!text || right - left < 8 + 7 * text.length) return [rect];
  const middle = (left + right) / 2;
  return [rect, svg("text", { class: "dv-bar-label", x: middle.toFixed(1), y: LANES[lane] + 15, "text-anchor": "middle" }, text)];
}

export function tickStep(span, ticks) {
  const rough = span / ticks;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

function axisNodes(view, toX, y) {
  const step = tickStep(view.end - view.start, Math.max(2, toX.width / 130));
  const nodes = [];
  for (let n = Math.max(0, Math.ceil(view.start / step)); n * step < view.end; n++) {
    const label = step < 1 ? `${+(1000 * n * step).toFixed(3)} ms` : `${+(n * step).toFixed(3)} s`;
    nodes.push(svg("line", { class: "dv-tick", x1: toX(n * step), x2: toX(n * step), y1: y, y2: y + 4 }));
    nodes.push(svg("text", { class: "dv-axis", x: toX(n * step) + 3, y: y + 13 }, label));
  }
  return nodes;
}

// For what is idle. Each drawing has its own: one in a drawing that is hidden would draw nothing.
export function createHatch() {
  const id = `dv-hatch-${Math.random().toString(36).slice(2)}`;
  const line = svg("line", { class: "dv-hatch", x1: 0, x2: 0, y1: 0, y2: 6 });
  const turned = { patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return { id, node: svg("defs", {}, svg("pattern", { id, width: 6, height: 6, ...turned }, line)) };
}

function timelineLane(lane, about) {
  const { state, toX, hatch, view } = about;
  const device = state.header?.[lane]?.device ?? "";
  const name = visible(`${lane === "target" ? "Target" : "Draft"}${device ? ` · ${device}` : ""}`);
  const label = svg("text", { class: "dv-lane-label", x: 0, y: LANES[lane] - 5, "data-lane": lane },
    clip(name, Math.floor(toX.width / 6.6)), svg("title", {}, name));
  const [x0, x1] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)].map(toX);
  const place = { x: x0, y: LANES[lane], width: Math.max(0, x1 - x0), height: LANE_HEIGHT };
  const idle = svg("rect", { class: "dv-idle", "data-lane": lane, ...place, fill: `url(#${hatch})` }, svg("title", {}, "idle"));
  return { label, nodes: [idle, ...barsInView(lane, about).flatMap((bar) => barNodes(lane, bar, toX))] };
}

function syncLines(state, [from, to], toX, height) {
  const lines = [];
  let last = -Infinity;
  for (let position = from; position < to; position++) {
    const x = toX(state.iterations[position].sync);
    if (x - last < MIN_SYNC_PX) continue;
    lines.push(svg("line", { class: "dv-sync", x1: x.toFixed(2), x2: x.toFixed(2), y1: 14, y2: height, "data-iteration": position }));
    last = x;
  }
  return lines;
}

const scaleOf = (view, width) => {
  const pixels = width / (view.end - view.start);
  return Object.assign((time) => Math.min(width + 9, Math.max(-9, (time - view.start) * pixels)), { width, pixels });
};
const lanesOf = (state) => (state.header?.draft === null ? ["target"] : ["target", "draft"]);
const bottomOf = (state) => LANES[lanesOf(state).at(-1)] + LANE_HEIGHT + 4;

// Everything in view but the band of the iteration shown.
export function drawLanes(drawing, layer, labels, { state, view, width, hatch }) {
  const [toX, bottom] = [scaleOf(view, width), bottomOf(state)];
  drawing.setAttribute("height", bottom + 15);
  const ended = [view.start, view.end].map((time) => iterationEndingAt(state.iterations, time));
  const lanes = lanesOf(state).map((lane) => timelineLane(lane, { state, toX, hatch, view }));
  const lines = [...syncLines(state, ended, toX, bottom), ...axisNodes(view, toX, bottom)];
  layer.replaceChildren(...lanes.flatMap((lane) => lane.nodes), ...lines);
  labels.replaceChildren(...lanes.map((lane) => lane.label));
}

export function placeBand(band, { state, view, width }) {
  const [before, iteration] = [state.iterations[state.shown - 1], state.iterations[state.shown]];
  const toX = scaleOf(view, width);
  // Played, an iteration begins when the one before it has ended, and not with the first work.
  const [x0, x1] = [toX(before?.sync ?? beginOf(iteration)), toX(iteration.sync)];
  setAttributes(band, { x: x0, y: 14, width: Math.max(1, x1 - x0), height: bottomOf(state) - 14 });
}

// The playhead, and what is still to come: paler.
export function placePlayhead(playhead, future, { state, view, width }) {
  const x = scaleOf(view, width)(state.clock);
  const visibility = state.moment !== null && x >= 0 && x <= width ? "visible" : "hidden";
  setAttributes(playhead, { x1: x, x2: x, visibility });
  const height = bottomOf(state) - LANES.target;
  setAttributes(future, { x, y: LANES.target, width: Math.max(0, width - x), height, visibility });
}
