// The lanes of one run on the first screen: what is drawn of them grows with the clock.

import { setAttributes, svg } from "../visualizer/dom.js";
import { createHatch, drawLanes } from "../visualizer/timeline.js";
import { eventsOf, stateAfter } from "../visualizer/state.js";

// What the axis takes below the lanes of the timeline.
const AXIS = 17;

export function createLanes(names) {
  const id = `dv-clock-${Math.random().toString(36).slice(2)}`;
  const [hatch, past] = [createHatch(), svg("rect", { x: 0, y: 0, height: 200, width: 0 })];
  const [layer, labels] = [svg("g", { "clip-path": `url(#${id})` }), svg("g")];
  const node = svg("svg", { class: "dv-story-lanes", "aria-hidden": "true" }, hatch.node, svg("clipPath", { id }, past), layer, labels);
  let scale = 0;
  return {
    node,
    // run: {header, iterations}; end: of the time shown, in seconds.
    draw(run, end, width) {
      scale = width / end;
      const state = stateAfter(eventsOf(run));
      drawLanes(node, layer, labels, { state, view: { start: 0, end }, width, hatch: hatch.id });
      const height = node.getAttribute("height") - AXIS;
      setAttributes(node, { viewBox: `0 0 ${width} ${height}`, height });
      for (const label of labels.children) label.textContent = names[label.dataset.lane];
    },
    show: (clock) => past.setAttribute("width", Math.max(0, clock * scale)),
  };
}
