// A side's run in the visualizer, for those who want to look inside.

import { el } from "../visualizer/dom.js";
import { eventsOf } from "../visualizer/state.js";
import { mount } from "../visualizer/mount.js";

export function createInside(lane, place, { race, options }) {
  const heading = el("summary", {}, `Look inside the run of ${lane.name}`);
  const node = el("details", { class: "dv-inside", "data-lane": lane.name }, heading);
  let visualizer = null;
  const close = () => {
    visualizer?.destroy();
    visualizer = null;
  };
  const shownRun = () => race.result && lane.runs.get(race.result.lanes[place].repeat);
  node.addEventListener("toggle", () => {
    if (!node.open) return close();
    const feed = { subscribe: (callback) => eventsOf(shownRun()).forEach(callback) };
    visualizer ??= mount(node.appendChild(el("div")), feed, options);
  });
  return {
    node,
    close,
    show: (position) => visualizer?.show(position),
    draw() { node.hidden = !shownRun(); },
  };
}
