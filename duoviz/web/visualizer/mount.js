// Puts the parts together: `mount(root, feed)` draws whatever events the feed gives.

import { addToRun, applyEvent, emptyRun, emptyState, isLive } from "./state.js";
import { createNumbers } from "./numbers.js";
import { createText } from "./text.js";
import { createTree } from "./tree.js";
import { createTimeline } from "./timeline.js";
import { createCharts } from "./charts.js";
import { advancePlay, createActions } from "./player.js";
import { createTransport } from "./transport.js";
import { listenToKeys } from "./keys.js";
import { createLegend, createMessage } from "./legend.js";
import { createOrigin } from "./origin.js";
import { createFiles } from "./files.js";
import { createLobby } from "./lobby.js";
import { createHelp } from "./help.js";
import { createTip } from "./tip.js";
import { keepSpeed } from "./baseline.js";
import { el } from "./dom.js";

// Events are taken in few at a time, and of a frame's time not more than this; the rest is for drawing.
const EVENTS_AT_ONCE = 10;
const TAKING_MS = 6;

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
  root.dataset.shown = state.shown;
  root.dataset.state = state.recorded ? "recording" : state.phase;
  root.dataset.playing = state.playing ? "yes" : "no";
  root.dataset.moment = state.moment ?? "";
  root.dataset.file = state.file === null ? "no" : "yes";
  root.dataset.method = state.header?.method ?? "";
  root.dataset.draft = state.header?.draft === null ? "none" : "yes";
}

// replayParts: what stands before and after a trace in the one file that replays it, from whoever knows; pageKeys: what
// the help says of the keys of the page around it.
export function mount(root, feed, { replayParts = null, pageKeys = [] } = {}) {
  const [state, own] = [emptyState(), emptyRun()];
  const queue = [];
  let frame = 0, lastTime = null, parts = [], showsFile = false;

  const redraw = () => { frame ||= requestAnimationFrame(draw); };
  const takeEvents = () => {
    const end = performance.now() + TAKING_MS;
    while (queue.length && performance.now() < end) {
      for (const event of queue.splice(0, EVENTS_AT_ONCE)) {
        if (event.type === "reset") timeline.view.auto = true;
        applyEvent(state, event);
      }
      text.grow();
    }
  };
  const draw = (time) => {
    frame = 0;
    const isComing = queue.length > 0;
    takeEvents();
    if (state.playing) advancePlay(state, lastTime === null ? 0 : (time - lastTime) / 1000);
    lastTime = state.playing ? time : null;
    root.dataset.iterations = state.iterations.length;
    // Of a file, the text alone is laid out as it comes, and the rest drawn at its end: nobody could follow it.
    if (state.file !== null && isComing) return redraw();
    writeAttributes(root, state);
    for (const part of parts) part.draw();
    // What is scrolled is laid out for it: after all that changes the layout, so that this happens once. The text
    // comes last, for it changes more when it knows what is in sight.
    tree.settle();
    text.settle();
    if (queue.length || state.playing) redraw();
  };

  const show = (events, file) => {
    showsFile = file;
    for (const event of events) queue.push(event);
    redraw();
  };
  // While a file is shown, a run that goes on is kept.
  const hear = (event) => {
    addToRun(own, event);
    const note = event.type === "end" && own.file === null ? keepSpeed(own) : "";
    if (event.type === "reset" || !showsFile) show([note ? { ...event, note } : event], false);
  };
  const hasEndedRun = () => own.file === null && own.iterations.length > 0 && (own.last !== null || own.lost);
  const lobby = createLobby({ keeps: hasEndedRun, hear, say: (event) => show([event], showsFile) });

  const actions = createActions(state, redraw, () => { timeline.view.auto = true; });
  const context = { state, actions, redraw, choose: actions.choose, hover: createHover(() => parts) };
  const timeline = createTimeline(context);
  const text = createText(context);
  const tree = createTree(context);
  const [origin, message, numbers, legend] = [createOrigin, createMessage, createNumbers, createLegend].map((create) => create(context));
  const [transport, charts] = [createTransport(context), createCharts(context)];
  const files = createFiles({
    root, state, drawings: { tree: tree.drawing, timeline: timeline.drawing, charts: charts.pictures }, replayParts,
    own, isBusy: () => isLive(state) || lobby.isWaiting() || queue.length > 0,
    showFile: (events) => show(events, true), showOwn: (events) => show(events, false),
  });
  const tip = createTip(root);
  message.node.prepend(origin.node);
  const top = el("div", { class: "dv-top" }, message.node, files.node, createHelp({ meanings: numbers.meanings, legend: legend.full, pageKeys }));
  parts = [origin, message, numbers, text, transport, tree, timeline, charts, files, legend, tip];
  root.classList.add("dv");
  root.tabIndex = 0;
  root.replaceChildren(top, ...[text, numbers, transport, legend, tree, timeline, charts, tip].map((part) => part.node));
  const stopKeys = listenToKeys(root, actions);
  const unsubscribe = feed.subscribe(lobby.take);
  root.dataset.iterations = 0;
  writeAttributes(root, state);
  redraw();

  const destroy = () => {
    unsubscribe?.();
    stopKeys();
    files.stop();
    tip.stop();
    cancelAnimationFrame(frame);
    root.replaceChildren();
    root.classList.remove("dv");
  };
  return { destroy, show: actions.choose, state, run: own };
}
