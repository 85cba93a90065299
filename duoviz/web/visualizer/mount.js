// Puts the parts together: `mount(root, feed)` draws whatever events the feed gives.

import { applyEvent, emptyState, isLive } from "./state.js";
import { createNumbers } from "./numbers.js";
import { createText } from "./text.js";
import { createTree } from "./tree.js";
import { createTimeline } from "./timeline.js";
import { createCharts } from "./charts.js";
import { advancePlay, createActions } from "./player.js";
import { createTransport } from "./transport.js";
import { listenToKeys } from "./keys.js";
import { createLegend, createMessage } from "./legend.js";
import { createFiles } from "./files.js";

const EVENTS_PER_FRAME = 80;

function createHover(parts) {
  let current = -1;
  return (position) => {
    if (position === current) return;
    for (const part of parts()) part.highlight?.(current, false);
    current = position;
    if (position >= 0) for (const part of parts()) part.highlight?.(position, true);
  };
}

function writeAttributes(root, state) {
  root.dataset.iterations = state.iterations.length;
  root.dataset.shown = state.shown;
  root.dataset.state = state.phase;
  root.dataset.method = state.header?.method ?? "";
  root.dataset.draft = state.header?.draft === null ? "none" : "yes";
}

export function mount(root, feed) {
  const state = emptyState();
  const queue = [];
  let frame = 0, lastTime = null, parts = [];

  const redraw = () => { frame ||= requestAnimationFrame(draw); };
  const takeEvents = () => {
    for (const event of queue.splice(0, EVENTS_PER_FRAME)) {
      if (event.type === "reset") timeline.view.auto = true;
      applyEvent(state, event);
    }
  };
  const draw = (time) => {
    frame = 0;
    takeEvents();
    if (state.playing) advancePlay(state, lastTime === null ? 0 : (time - lastTime) / 1000);
    lastTime = state.playing ? time : null;
    writeAttributes(root, state);
    for (const part of parts) part.draw();
    if (queue.length || state.playing) redraw();
  };

  const take = (event) => {
    queue.push(event);
    redraw();
  };

  const actions = createActions(state, redraw, () => { timeline.view.auto = true; });
  const context = { state, actions, redraw, choose: actions.choose, hover: createHover(() => parts) };
  const timeline = createTimeline(context);
  const tree = createTree(context);
  const files = createFiles({
    root, state, drawings: { tree: tree.drawing, timeline: timeline.drawing },
    isBusy: () => isLive(state) || queue.length > 0, replay: (events) => events.forEach(take),
  });
  parts = [createMessage(context), createNumbers(context), createTransport(context), createText(context),
    tree, timeline, createCharts(context), files, createLegend(context)];
  root.classList.add("dv");
  root.tabIndex = 0;
  root.replaceChildren(...parts.map((part) => part.node));
  const stopKeys = listenToKeys(root, actions);
  const sizes = new ResizeObserver(redraw);
  sizes.observe(root);
  const unsubscribe = feed.subscribe(take);
  writeAttributes(root, state);
  redraw();

  const destroy = () => {
    unsubscribe?.();
    sizes.disconnect();
    stopKeys();
    files.stop();
    cancelAnimationFrame(frame);
    root.replaceChildren();
    root.classList.remove("dv");
  };
  return { destroy, show: actions.choose, state };
}
