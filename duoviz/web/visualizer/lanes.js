// The timeline's drawing: bars, idle time, ends of iterations, axis.

import { svg } from "./dom.js";
import { clip, count, visible } from "./words.js";
import { beginOf } from "./state.js";

const MIN_BAR_PX = 3;
const MIN_SYNC_PX = 8;

const LANE_HEIGHT = 26;
const LANES = { target: 20, draft: 72 };

function laneBars(lane, iteration, position) {
  if (lane === "target") return [{ ...iteration.target, position, label: iteration.target.rows, what: `target forward, ${count(iteration.target.rows, "row")}` }];
  return iteration.draft.map((step) => ({ ...step, position, label: step.tokens, what: `draft step, ${count(step.tokens, "token")}` }));
}

// Neighbours too narrow to tell apart become one bar: this bounds the number of nodes at any zoom.
function mergeBars(bars, pixels) {
  const merged = [];
  for (const bar of bars) {
    const last = merged.at(-1);
    if (last && (bar.end - last.start) * pixels < MIN_BAR_PX) Object.assign(last, { end: bar.end, label: "", several: (last.several ?? 1) + 1 });
    else merged.push({ ...bar });
  }
  return merged;
}

function barTitle(lane, bar) {
  if (bar.several) return `${bar.several} ${lane} bars from iteration ${bar.position}: zoom in to tell them apart`;
  return `Iteration ${bar.position}: ${bar.what}\nstart ${(1000 * bar.start).toFixed(2)} ms, duration ${(1000 * (bar.end - bar.start)).toFixed(2)} ms`;
}

function barNodes(lane, bar, toX, shown) {
  const [x, width] = [toX(bar.start), Math.max(0.75, toX(bar.end) - toX(bar.start))];
  const rect = svg("rect", { class: `dv-bar${bar.position === shown ? " dv-shown" : ""}`, x: x.toFixed(2), y: LANES[lane], width: width.toFixed(2), height: LANE_HEIGHT,
    "data-lane": lane, "data-iteration": bar.position, "data-start": bar.start, "data-end": bar.end });
  rect.append(svg("title", {}, barTitle(lane, bar)));
  const text = String(bar.label);
  const [left, right] = [Math.max(0, x), Math.min(toX.width, x + width)];
  if (!text || right - left < 8 + 7 * text.length) return [rect];
  const middle = (left + right) / 2;
  return [rect, svg("text", { class: "dv-bar-label", x: middle.toFixed(1), y: LANES[lane] + 17, "text-anchor": "middle" }, text)];
}

function tickStep(span, ticks) {
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

export function hatchPattern(id) {
  const pattern = svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(svg("line", { class: "dv-hatch", x1: 0, x2: 0, y1: 0, y2: 6 }));
  const defs = svg("defs");
  defs.append(pattern);
  return defs;
}

function firstEndingAfter(iterations, time) {
  let [low, high] = [0, iterations.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (iterations[middle].sync < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timelineLane(lane, { state, visibleRange, toX, pixels, hatch, view }) {
  const device = state.header?.[lane]?.device ?? "";
  const name = `${lane === "target" ? "Target" : "Draft"}${device ? ` · ${device}` : ""}`;
  const label = svg("text", { class: "dv-lane-label", x: 0, y: LANES[lane] - 6, "data-lane": lane }, clip(visible(name), Math.floor(toX.width / 6.6)));
  label.append(svg("title", {}, visible(name)));
  const [from, to] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)];
  const idle = svg("rect", { class: "dv-idle", "data-lane": lane, x: toX(from), y: LANES[lane], width: Math.max(0, toX(to) - toX(from)), height: LANE_HEIGHT, fill: `url(#${hatch})` });
  idle.append(svg("title", {}, "idle"));
  const bars = [];
  for (let position = visibleRange[0]; position < visibleRange[1]; position++) bars.push(...laneBars(lane, state.iterations[position], position));
  const inView = bars.filter((bar) => bar.end >= view.start && bar.start <= view.end);
  return [label, idle, ...mergeBars(inView, pixels).flatMap((bar) => barNodes(lane, bar, toX, state.shown))];
}

function syncLines(state, [from, to], toX, height) {
  const lines = [];
  let last = -Infinity;
  for (let position = from; position < to; position++) {
    const x = toX(state.iterations[position].sync);
    if (x - last < MIN_SYNC_PX || x > toX.width + 1) continue;
    lines.push(svg("line", { class: "dv-sync", x1: x.toFixed(2), x2: x.toFixed(2), y1: 14, y2: height, "data-iteration": position }));
    last = x;
  }
  return lines;
}

function shownBand(state, toX, height) {
  const iteration = state.iterations[state.shown];
  if (!iteration) return [];
  const [x0, x1] = [toX(beginOf(iteration)), toX(iteration.sync)];
  return [svg("rect", { class: "dv-band", x: x0, y: 14, width: Math.max(1, x1 - x0), height: height - 14 })];
}

export function drawLanes(drawing, layer, { state, view, width, hatch }) {
  const lanes = state.header?.draft === null ? ["target"] : ["target", "draft"];
  const bottom = LANES[lanes.at(-1)] + LANE_HEIGHT + 4;
  drawing.setAttribute("height", bottom + 18);
  const pixels = width / (view.end - view.start);
  const toX = (time) => Math.min(width + 9, Math.max(-9, (time - view.start) * pixels));
  toX.width = width;
  const past = Math.min(state.iterations.length, firstEndingAfter(state.iterations, view.end) + 1);
  const visibleRange = [firstEndingAfter(state.iterations, view.start), past];
  const about = { state, visibleRange, toX, pixels, hatch, view };
  layer.replaceChildren(...shownBand(state, toX, bottom), ...lanes.flatMap((lane) => timelineLane(lane, about)),
    ...syncLines(state, visibleRange, toX, bottom), ...axisNodes(view, toX, bottom));
}
