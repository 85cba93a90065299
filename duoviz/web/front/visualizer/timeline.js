// The timeline: two lanes on one clock.

import { el, section, setText, svg, textButton, watchSize } from "./dom.js";
import { addPointer, addTimelineKeys, createView, ITERATIONS_IN_VIEW } from "./view.js";
import { createHatch, drawLanes, placeBand, placePlayhead } from "./lanes.js";
import { busyBetween } from "./busy.js";
import { duration, percent } from "./words.js";
import { isPaced } from "./player.js";

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
