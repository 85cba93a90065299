// The timeline: two lanes on one clock, what part of it is in view, and moving that by pointer and keys.

import { el, isPresented, placeOn, section, setAttributes, setText, svg, textButton, watchSize } from "./dom.js";
import { onKeys } from "./keys.js";
import { coresOf, machineOf, modelWords } from "./origin.js";
import { isPaced } from "./player.js";
import { beginOf, busyBetween, eachBetween, isTimed, iterationEndingAt } from "./state.js";
import { clip, count, duration, percent, visible } from "./words.js";

const MIN_BAR_PX = 3;
const MIN_SYNC_PX = 8;
const [TICK_SIGN, PRESENTED_SIGN] = [8, 14];

// In a narrow lane there is no room for the models' names.
const NAMES_FROM = 700;
const LANE_HEIGHT = 22;
const LANES = { target: 17, draft: 59 };

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

// In seconds where the last time in view has more than one.
export const tickLabel = (time, last) => (last > 1 ? `${+time.toFixed(6)} s` : `${+(1000 * time).toFixed(3)} ms`);

function axisNodes(view, toX, y) {
  const step = tickStep(view.end - view.start, Math.max(5, toX.width / 130));
  const nodes = [];
  for (let n = Math.max(0, Math.ceil(view.start / step)); n * step < view.end; n++) {
    const [x, label] = [toX(n * step), tickLabel(n * step, view.end)];
    nodes.push(svg("line", { class: "dv-tick", x1: x, x2: x, y1: y, y2: y + 4 }));
    if (x + (isPresented() ? PRESENTED_SIGN : TICK_SIGN) * label.length < toX.width) nodes.push(svg("text", { class: "dv-axis", x: x + 3, y: y + 13 }, label));
  }
  return nodes;
}

export function createHatch() {
  const id = `dv-hatch-${Math.random().toString(36).slice(2)}`;
  const line = svg("line", { class: "dv-hatch", x1: 0, x2: 0, y1: 0, y2: 6 });
  const turned = { patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return { id, node: svg("defs", {}, svg("pattern", { id, width: 6, height: 6, ...turned }, line)) };
}

function timelineLane(lane, about) {
  const { state, toX, hatch, view } = about;
  const side = state.header?.[lane] ?? {};
  const model = toX.width < NAMES_FROM ? "" : modelWords(side);
  const isNamed = lane === "draft" && side.device && machineOf(side.device) === machineOf(state.header.target.device);
  const device = isNamed ? coresOf(side) : side.device;
  const role = lane === "target" ? "Large model (target)" : "Small model (draft)";
  const name = visible([role, model, device].filter(Boolean).join(" · "));
  const rest = clip(name, Math.floor(toX.width / 6.6)).slice(role.length);
  const label = svg("text", { class: "dv-lane-label", x: 0, y: LANES[lane] - 5, "data-lane": lane },
    role, svg("tspan", {}, rest), svg("title", {}, name));
  const [x0, x1] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)].map(toX);
  const place = { x: x0, y: LANES[lane], width: Math.max(0, x1 - x0), height: LANE_HEIGHT };
  const idle = svg("rect", { class: "dv-idle", "data-lane": lane, ...place, fill: `url(#${hatch})` }, svg("title", {}, "idle"));
  return { label, nodes: [idle, ...barsInView(lane, about).flatMap((bar) => barNodes(lane, bar, toX))] };
}

// A line in the lanes alone, which it leaves by so much: the names between them are read.
const inLanes = (state, x, by) => lanesOf(state).map((lane) => `M${x.toFixed(2)} ${LANES[lane] - by}v${LANE_HEIGHT + 2 * by}`).join("");

function syncLines(state, [from, to], toX) {
  const lines = [];
  let last = -Infinity;
  for (let position = from; position < to; position++) {
    const x = toX(state.iterations[position].sync);
    if (x - last < MIN_SYNC_PX) continue;
    lines.push(svg("path", { class: "dv-sync", d: inLanes(state, x, 1), "data-iteration": position }));
    last = x;
  }
  return lines;
}

const lanesOf = (state) => (state.header?.draft === null ? ["target"] : ["target", "draft"]);
const bottomOf = (state) => LANES[lanesOf(state).at(-1)] + LANE_HEIGHT + 4;

// From times to pixels.
export const scaleOf = (view, width) => {
  const pixels = width / (view.end - view.start);
  return Object.assign((time) => Math.min(width + 9, Math.max(-9, (time - view.start) * pixels)), { width, pixels });
};

export function drawLanes(drawing, layer, labels, { state, view, width, hatch }) {
  const [toX, bottom] = [scaleOf(view, width), bottomOf(state)];
  drawing.setAttribute("height", bottom + 15);
  const ended = [view.start, view.end].map((time) => iterationEndingAt(state.iterations, time));
  const lanes = lanesOf(state).map((lane) => timelineLane(lane, { state, toX, hatch, view }));
  const lines = [...syncLines(state, ended, toX), ...axisNodes(view, toX, bottom)];
  const lent = svg("path", { class: "dv-lent", d: lentPath(state, view, toX) }, svg("title", {}, "The draft's cores work for the target."));
  layer.replaceChildren(...lanes.flatMap((lane) => lane.nodes), lent, ...lines);
  labels.replaceChildren(...lanes.map((lane) => lane.label));
}

const lendsCores = (header) => Boolean(header?.draft && header.target.borrows);

// When the draft's cores work for the target, as [from, to]: from its last step until the target has ended.
function lentBetween({ header, lanes, iterations }, from, to) {
  const times = [];
  eachBetween(lendsCores(header) ? lanes.target : [], from, to, ({ start, end, position }) => {
    const begin = Math.max(start, iterations[position].draft.at(-1)?.end ?? start);
    if (begin < end) times.push([begin, end]);
  });
  return times;
}

export const lentPath = (state, view, toX) => (
  lentBetween(state, view.start, view.end).map(([from, to]) => `M${toX(from).toFixed(2)} ${LANES.draft}H${toX(to).toFixed(2)}v${LANE_HEIGHT}H${toX(from).toFixed(2)}Z`).join(""));

// Played, an iteration begins when the one before it has ended, and not with the first work.
function placeBand(band, state, toX) {
  const [before, iteration] = [state.iterations[state.shown - 1], state.iterations[state.shown]];
  const x = toX(before?.sync ?? beginOf(iteration));
  setAttributes(band, { x, y: 14, width: Math.max(1, toX(iteration.sync) - x), height: bottomOf(state) - 14 });
}

function placePlayhead(playhead, future, state, toX) {
  const x = toX(state.clock);
  const visibility = state.moment !== null && x >= 0 && x <= toX.width ? "visible" : "hidden";
  setAttributes(playhead, { d: inLanes(state, x, 3), visibility });
  const height = bottomOf(state) - LANES.target;
  setAttributes(future, { x, y: LANES.target, width: Math.max(0, toX.width - x), height, visibility });
}

const ITERATIONS_IN_VIEW = 12;
const BESIDE = 2;

// What part of the clock is in view. `auto` follows the iteration shown; zooming or panning by hand ends it.
export function createView(state) {
  const view = { start: 0, end: 0, auto: true };
  const runEnd = () => state.iterations.at(-1)?.sync ?? 1;
  const set = (start, span) => {
    const limited = Math.max(0.0005, Math.min(span, 1.1 * runEnd()));
    view.start = Math.min(Math.max(start, -0.05 * limited), Math.max(0, runEnd() - 0.5 * limited));
    view.end = view.start + limited;
  };
  const setByHand = (start, span) => { view.auto = false; set(start, span); };
  view.zoom = (factor, at = (view.start + view.end) / 2) => (
    setByHand(at - (at - view.start) * factor, (view.end - view.start) * factor)
  );
  view.panBy = (part) => setByHand(view.start + part * (view.end - view.start), view.end - view.start);
  view.whole = () => setByHand(-0.01 * runEnd(), 1.02 * runEnd());
  view.showWindow = (last) => {
    const from = beginOf(state.iterations[Math.max(0, last - ITERATIONS_IN_VIEW + 1)]);
    const span = state.iterations[last].sync - from;
    set(from - 0.01 * span, 1.02 * span);
  };
  view.follow = () => {
    const iteration = state.iterations[state.shown];
    if (!iteration) return;
    const inside = beginOf(iteration) >= view.start && iteration.sync <= view.end;
    if (view.auto && state.moment !== null && isPaced(state)) {
      const from = beginOf(state.iterations[Math.max(0, state.shown - BESIDE)]);
      set(from, state.iterations[Math.min(state.iterations.length - 1, state.shown + BESIDE)].sync - from);
    } else if (view.auto && state.follow) view.showWindow(state.shown);
    else if (!inside && view.auto) {
      view.showWindow(Math.min(state.iterations.length - 1, state.shown + ITERATIONS_IN_VIEW / 2));
    } else if (!inside) set((beginOf(iteration) + iteration.sync - view.end + view.start) / 2, view.end - view.start);
  };
  return view;
}

function addPointer(drawing, view, { redraw, choose, hover }) {
  let drag = null;
  const iterationAt = (target) => (target.dataset?.iteration === undefined ? -1 : Number(target.dataset.iteration));
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, share: placeOn(drawing, event)[0], moved: 0, position: iterationAt(event.target) };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag) return hover(iterationAt(event.target));
    const [share] = placeOn(drawing, event);
    const by = drag.share - share;
    drag.moved += Math.abs(event.clientX - drag.x);
    Object.assign(drag, { x: event.clientX, share });
    if (drag.moved <= 4) return;
    view.panBy(by);
    redraw();
  });
  drawing.addEventListener("pointerup", () => {
    if (drag && drag.moved <= 4 && drag.position >= 0) choose(drag.position);
    drag = null;
  });
  drawing.addEventListener("pointercancel", () => { drag = null; });
  drawing.addEventListener("pointerleave", () => hover(-1));
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = view.start + placeOn(drawing, event)[0] * (view.end - view.start);
    view.zoom(Math.exp(0.002 * Math.max(-200, Math.min(200, event.deltaY))), at);
    redraw();
  }, { passive: false });
}

export function sharesInView(state, view) {
  const [from, to] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)];
  const busy = busyBetween(state.lanes, from, to);
  const isAlone = state.header?.draft === null;
  const inView = ([start, end]) => Math.max(0, Math.min(end, to) - Math.max(start, from));
  const lent = lentBetween(state, from, to).reduce((sum, times) => sum + inView(times), 0);
  return {
    from, to, target: 1 - busy.target / (to - from), draft: isAlone ? null : 1 - (busy.draft + lent) / (to - from),
    lent: lendsCores(state.header) ? lent / (to - from) : null,
    overlap: isAlone || !state.header?.can_overlap ? null : busy.both / (to - from),
  };
}

function createShares(state, view) {
  const span = el("span");
  const values = {};
  const node = el("p", { class: "dv-shares" }, span);
  for (const [name, label] of [["overlap", "both working at once "], ["target", "large model idle "], ["draft", "small model idle "], ["lent", "lent "]]) {
    values[name] = el("b");
    node.append(el("span", {}, label, values[name]));
  }
  return {
    node,
    draw() {
      const shares = sharesInView(state, view);
      setText(span, `In view, ${duration(shares.to - shares.from)}:`);
      for (const [name, value] of Object.entries(values)) {
        value.parentElement.hidden = shares[name] === null;
        setText(value, percent(shares[name]));
      }
      Object.assign(node.dataset, { from: shares.from, to: shares.to });
    },
  };
}

const entry = (tag, words, pattern, sign = "") => (
  el(tag, {}, el("span", { "class": "dv-pattern", "data-pattern": pattern }, sign), ` ${words}`));

// Of the lanes' patterns, as nodes.
export const patternKeys = (tag, header) => (
  [entry(tag, "idle", "idle"), ...(lendsCores(header) ? [entry(tag, "core helps the large model", "lent")] : [])]);

function keysOf(header) {
  const read = entry("li", "tokens read", "bar", "3");
  if (header?.draft) read.prepend(el("span", { "class": "dv-pattern", "data-pattern": "step" }, "3"), " ");
  return [read, ...patternKeys("li", header)];
}

// What numbers and patterns of the lanes mean.
function createKey(state) {
  const node = el("ul", { class: "dv-timeline-key" });
  return { node, draw: () => node.replaceChildren(...keysOf(state.header)) };
}

export function createTimeline({ state, choose, redraw, hover }) {
  const hatch = createHatch();
  const drawing = svg("svg", { class: "dv-timeline-drawing", tabindex: "0", role: "img", "aria-label": "Timeline: W and S zoom, A and D move" });
  const [band, layer, labels] = [svg("rect", { class: "dv-band" }), svg("g"), svg("g")];
  const [playhead, future] = [svg("path", { class: "dv-playhead" }), svg("rect", { class: "dv-future" })];
  drawing.append(hatch.node, band, layer, future, labels, playhead);
  const view = createView(state);
  const [shares, patterns] = [createShares(state, view), createKey(state)];
  addPointer(drawing, view, { redraw, choose, hover });
  const moved = (move) => () => { move(); redraw(); };
  const [zoomBy, panBy] = [(factor) => moved(() => view.zoom(factor)), (part) => moved(() => view.panBy(part))];
  onKeys(drawing, { w: zoomBy(0.7), s: zoomBy(1 / 0.7), a: panBy(-0.15), d: panBy(0.15) });
  const near = textButton(`${ITERATIONS_IN_VIEW} iterations`, moved(() => {
    view.auto = true;
    if (state.shown >= 0) view.showWindow(state.shown);
  }));
  const tools = el("div", { class: "dv-tools" }, near, textButton("Whole run", moved(view.whole)));
  let width = 0, drawn = "", followed = "";
  watchSize(drawing, (now) => { width = now; redraw(); });
  const node = section("timeline", "Timeline", el("div", { class: "dv-strip" }, shares.node, patterns.node, tools), drawing);
  return {
    node,
    view,
    drawing,
    highlight: (position, on) => layer.querySelectorAll(`.dv-bar[data-iteration="${position}"]`).forEach((bar) => bar.classList.toggle("dv-lit", on)),
    draw() {
      node.hidden = !isTimed(state.header);
      if (!state.iterations.length || !width || node.hidden) return;
      const place = `${state.epoch} ${state.shown} ${state.follow} ${view.auto} ${isPaced(state) && state.moment !== null}`;
      if (place !== followed) view.follow();
      followed = place;
      const toX = scaleOf(view, width);
      const key = `${state.epoch} ${state.iterations.length} ${width} ${view.start} ${view.end} ${Boolean(state.header)}`;
      if (key !== drawn) {
        drawLanes(drawing, layer, labels, { state, view, width, hatch: hatch.id });
        shares.draw();
        patterns.draw();
      }
      drawn = key;
      placeBand(band, state, toX);
      placePlayhead(playhead, future, state, toX);
    },
  };
}
