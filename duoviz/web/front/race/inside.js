// A side's run in the visualizer, for those who want to look inside.

import { el } from "../visualizer/dom.js";
import { eventsOf } from "../visualizer/state.js";
import { mount } from "../visualizer/mount.js";

// The trace as a feed that has told all at once.
export const feedOf = (run) => ({
  subscribe(callback) {
    eventsOf(run).forEach(callback);
    return () => {};
  },
});

export function createInside(lane, place, { race, options }) {
  const root = el("div");
  const node = el("details", { class: "dv-inside", "data-lane": lane.name }, el("summary", {}, `Look inside the run of ${lane.name}`), root);
  let visualizer = null;
  const close = () => {
    visualizer?.destroy();
    visualizer = null;
  };
  node.addEventListener("toggle", () => {
    if (!node.open) return close();
    visualizer ??= mount(root, feedOf(lane.runs.get(race.result.lanes[place].repeat)), options);
  });
  return {
    node,
    close,
    show: (position) => visualizer?.show(position),
    draw() { node.hidden = !race.result || !lane.runs.has(race.result.lanes[place].repeat); },
  };
}
