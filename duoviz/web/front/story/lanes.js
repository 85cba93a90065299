// The lanes of the stage's timeline, in large type: a part of a run, without the axis and what else the timeline tells.

import { setAttributes, svg } from "../visualizer/dom.js";
import { createHatch, drawLanes } from "../visualizer/lanes.js";
import { eventsOf, stateAfter } from "../visualizer/state.js";

// How much larger than on the stage, and where there is less room; and what the axis takes below the lanes.
const [LARGER, LESS_LARGE, NARROW, AXIS] = [1.6, 1.3, 900, 17];

// A trace of nothing but one forward.
export const forwardOf = ({ header }, seconds, rows) => ({
  header: { ...header, draft: null },
  iterations: [{
    index: 0, target: { start: 0, end: seconds, rows }, draft: [], sync: seconds, committed: [],
    verdict: { tested: 0, accepted: 0 },
  }],
});

// The large model alone, whatever the small one did.
export const withoutDraft = (trace) => ({ ...trace, header: { ...trace.header, draft: null } });

// names: of the lanes, by lane; width: in pixels. `bars`: each with its rectangle, start and end.
export function createLanes(trace, { start, end, names, width }) {
  const hatch = createHatch();
  const [layer, labels] = [svg("g"), svg("g")];
  const drawing = svg("svg", { class: "dv-story-lanes" }, hatch.node, layer, labels);
  const state = stateAfter(eventsOf(trace));
  const larger = width < NARROW ? LESS_LARGE : LARGER;
  const inner = width / larger;
  drawLanes(drawing, layer, labels, { state, view: { start, end }, width: inner, hatch: hatch.id });
  const height = drawing.getAttribute("height") - AXIS;
  setAttributes(drawing, { viewBox: `0 0 ${inner} ${height}`, height: larger * height });
  for (const label of labels.children) label.textContent = names[label.dataset.lane];
  const bars = [...layer.querySelectorAll(".dv-bar")].map((rect) => (
    { rect, start: Number(rect.dataset.start), end: Number(rect.dataset.end) }
  ));
  return { node: drawing, bars: bars.filter((bar) => bar.end > start && bar.start < end) };
}
