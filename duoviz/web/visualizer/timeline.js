// The timeline: two lanes on one clock.

import { el, section, svg, textButton } from "./dom.js";
import { addPointer, addTimelineKeys, createView, ITERATIONS_IN_VIEW } from "./view.js";
import { drawLanes, hatchPattern } from "./lanes.js";

function timelineTools(state, view, redraw) {
  const near = textButton(`${ITERATIONS_IN_VIEW} iterations`, () => {
    view.auto = true;
    if (state.shown >= 0) view.showWindow(state.shown);
    redraw();
  });
  const whole = textButton("Whole run", () => { view.whole(); redraw(); });
  return el("div", { class: "dv-tools" }, near, whole, el("span", { class: "dv-hint" }, "wheel or W S: zoom · drag or A D: move · hatched: idle"));
}

export function createTimeline({ state, choose, redraw, hover }) {
  // Each visualizer's own: a pattern of one that is hidden would draw nothing.
  const hatch = `dv-hatch-${Math.random().toString(36).slice(2)}`;
  const drawing = svg("svg", { class: "dv-timeline-drawing", tabindex: "0", role: "img", "aria-label": "Timeline: W and S zoom, A and D move" });
  const layer = svg("g");
  const playhead = svg("line", { class: "dv-playhead", y1: 10, y2: "100%" });
  drawing.append(hatchPattern(hatch), layer, playhead);
  const view = createView(state);
  addPointer(drawing, view, { redraw, choose, hover });
  addTimelineKeys(drawing, view, redraw);
  let drawn = "", followed = "";
  return {
    node: section("timeline", "Timeline", drawing, timelineTools(state, view, redraw)),
    view,
    drawing,
    highlight: (position, on) => layer.querySelectorAll(`.dv-bar[data-iteration="${position}"]`).forEach((bar) => bar.classList.toggle("dv-lit", on)),
    draw() {
      const width = drawing.clientWidth;
      if (!state.iterations.length) layer.replaceChildren();
      if (!state.iterations.length || !width) return;
      const place = `${state.epoch} ${state.shown} ${state.follow} ${view.auto}`;
      if (place !== followed) view.follow();
      followed = place;
      const key = `${place} ${state.iterations.length} ${width} ${view.start} ${view.end} ${Boolean(state.header)}`;
      if (key !== drawn) drawLanes(drawing, layer, { state, view, width, hatch });
      drawn = key;
      const x = ((state.clock - view.start) / (view.end - view.start)) * width;
      playhead.setAttribute("visibility", state.playing && x >= 0 && x <= width ? "visible" : "hidden");
      playhead.setAttribute("x1", x);
      playhead.setAttribute("x2", x);
    },
  };
}
