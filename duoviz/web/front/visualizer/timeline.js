// The timeline: two lanes on one clock.

import { busyBetween } from "./busy.js";
import { el, section, setText, svg, textButton, watchSize } from "./dom.js";
import { isBrowsers } from "./keys.js";
import { createHatch, drawLanes, placeBand, placePlayhead } from "./lanes.js";
import { isPaced } from "./player.js";
import { beginOf } from "./state.js";
import { duration, percent } from "./words.js";

const ITERATIONS_IN_VIEW = 12;
// On either side of the iteration that is played so slowly that its draft steps can be followed.
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
  view.pan = (seconds) => setByHand(view.start + seconds, view.end - view.start);
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

export function addPointer(drawing, view, { redraw, choose, hover }) {
  let drag = null;
  const secondsPerPixel = () => (view.end - view.start) / Math.max(1, drawing.getBoundingClientRect().width);
  const iterationAt = (target) => (target.dataset?.iteration === undefined ? -1 : Number(target.dataset.iteration));
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, moved: 0, position: iterationAt(event.target) };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag) return hover(iterationAt(event.target));
    const dx = event.clientX - drag.x;
    drag.moved += Math.abs(dx);
    drag.x = event.clientX;
    if (drag.moved <= 4) return;
    view.pan(-dx * secondsPerPixel());
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
    const x = event.clientX - drawing.getBoundingClientRect().left;
    view.zoom(Math.exp(0.002 * Math.max(-200, Math.min(200, event.deltaY))), view.start + x * secondsPerPixel());
    redraw();
  }, { passive: false });
}

export function addTimelineKeys(drawing, view, redraw) {
  const acts = {
    w: () => view.zoom(0.7), s: () => view.zoom(1 / 0.7),
    a: () => view.pan(-0.15 * (view.end - view.start)), d: () => view.pan(0.15 * (view.end - view.start)),
  };
  drawing.addEventListener("keydown", (event) => {
    const act = acts[event.key.toLowerCase()];
    if (!act || isBrowsers(event)) return;
    event.preventDefault();
    act();
    redraw();
  });
}

function timelineTools(state, view, redraw) {
  const near = textButton(`${ITERATIONS_IN_VIEW} iterations`, () => {
    view.auto = true;
    if (state.shown >= 0) view.showWindow(state.shown);
    redraw();
  });
  return el("div", { class: "dv-tools" }, near, textButton("Whole run", () => { view.whole(); redraw(); }));
}

// What part of the time in view both lanes are busy, null where they take turns; and each is idle.
export function sharesInView(state, view) {
  const [from, to] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)];
  const busy = busyBetween(state.lanes, from, to);
  const isAlone = state.header?.draft === null;
  return {
    from, to, target: 1 - busy.target / (to - from), draft: isAlone ? null : 1 - busy.draft / (to - from),
    overlap: isAlone || !state.header?.can_overlap ? null : busy.both / (to - from),
  };
}

function createShares(state, view) {
  const span = el("span");
  const values = {};
  const node = el("p", { class: "dv-shares" }, span);
  for (const [name, label] of [["overlap", "overlap "], ["target", "target idle "], ["draft", "draft idle "]]) {
    values[name] = el("b", { "data-share": name });
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

export function createTimeline({ state, choose, redraw, hover }) {
  const hatch = createHatch();
  const drawing = svg("svg", { class: "dv-timeline-drawing", tabindex: "0", role: "img", "aria-label": "Timeline: W and S zoom, A and D move" });
  const [band, layer, labels] = [svg("rect", { class: "dv-band" }), svg("g"), svg("g")];
  const [playhead, future] = [svg("line", { class: "dv-playhead", y1: 10, y2: "100%" }), svg("rect", { class: "dv-future" })];
  // What is still to come is paler, but not the lanes' names.
  drawing.append(hatch.node, band, layer, future, labels, playhead);
  const view = createView(state);
  const shares = createShares(state, view);
  addPointer(drawing, view, { redraw, choose, hover });
  addTimelineKeys(drawing, view, redraw);
  let width = 0, drawn = "", followed = "";
  watchSize(drawing, (now) => { width = now; redraw(); });
  return {
    node: section("timeline", "Timeline", el("div", { class: "dv-strip" }, shares.node, timelineTools(state, view, redraw)), drawing),
    view,
    drawing,
    highlight: (position, on) => layer.querySelectorAll(`.dv-bar[data-iteration="${position}"]`).forEach((bar) => bar.classList.toggle("dv-lit", on)),
    draw() {
      if (!state.iterations.length) [layer, labels].forEach((part) => part.replaceChildren());
      if (!state.iterations.length || !width) return;
      const place = `${state.epoch} ${state.shown} ${state.follow} ${view.auto} ${isPaced(state) && state.moment !== null}`;
      if (place !== followed) view.follow();
      followed = place;
      const seen = { state, view, width, hatch: hatch.id };
      const key = `${state.epoch} ${state.iterations.length} ${width} ${view.start} ${view.end} ${Boolean(state.header)}`;
      if (key !== drawn) {
        drawLanes(drawing, layer, labels, seen);
        shares.draw();
      }
      drawn = key;
      placeBand(band, seen);
      placePlayhead(playhead, future, seen);
    },
  };
}
