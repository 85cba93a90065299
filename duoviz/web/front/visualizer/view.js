// What part of the clock the timeline shows, and moving it by pointer and keys.

import { isBrowsers } from "./keys.js";
import { isPaced } from "./player.js";
import { beginOf } from "./state.js";

export const ITERATIONS_IN_VIEW = 12;
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
