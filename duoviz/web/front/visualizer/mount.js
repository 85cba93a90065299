// Puts the parts together: `mount(root, feed)` draws whatever events the feed gives.

import { addToRun, applyEvent, emptyRun, emptyState, isLive, tellsCandidates } from "./state.js";
import { createNumbers, keepSpeed } from "./numbers.js";
import { createText } from "./text.js";
import { createTree } from "./tree.js";
import { createTimeline } from "./timeline.js";
import { createCharts } from "./charts.js";
import { createFlights } from "./looks.js";
import { advancePlay, beatOf, createActions, createSentence, createTransport } from "./player.js";
import { listenToKeys } from "./keys.js";
import { createLegend, createMessage, createHelp } from "./help.js";
import { createOrigin } from "./origin.js";
import { createFiles } from "./files.js";
import { createLobby } from "./feed.js";
import { createTip } from "./meanings.js";
import { createFrames } from "./motion.js";
import { el } from "./dom.js";

// So many events are taken in between two drawings.
const EVENTS_AT_ONCE = 100;
// A run may compute on the processor that draws: while it goes on, so many milliseconds pass between two drawings.
const DRAWING_MS = 60;

function writeAttributes(root, state, { isOn, isWaiting }) {
  Object.assign(root.dataset, {
    shown: state.shown, state: state.recorded ? "recording" : state.phase, playing: state.playing ? "yes" : "no",
    moment: state.moment ?? "", beat: beatOf(state), live: isOn ? "yes" : "no", waiting: isWaiting ? "yes" : "no",
    file: state.file === null ? "no" : "yes", alone: state.alone ? "yes" : "no",
    method: state.header?.method ?? "", draft: tellsCandidates(state) ? "yes" : "none",
  });
}

function noteOn(own, { type, last, run }) {
  if (type === "end") return keepSpeed(own);
  return type === "alone" && last ? keepSpeed({ ...run, metrics: last.metrics }) : "";
}

function createSource(feed, show) {
  const own = emptyRun();
  let showsFile = false;
  const showFile = (events) => { showsFile = true; show(events); };
  const showOwn = (events) => { showsFile = false; show(events); };
  const hear = (event) => {
    addToRun(own, event);
    const note = own.file === null ? noteOn(own, event) : "";
    if (event.type === "reset" || !showsFile) showOwn([note ? { ...event, note } : event]);
  };
  const lobby = createLobby({ keeps: () => own.iterations.length > 0, hear, say: (event) => show([event]) });
  feed.subscribe(lobby.take);
  return { own, showFile, showOwn, isWaiting: lobby.isWaiting };
}

function createParts(root, context, source, { isBusy, replayParts = null, pageKeys = [] }) {
  const [timeline, text, tree] = [createTimeline, createText, createTree].map((create) => create(context));
  const sentence = createSentence(context);
  const [origin, message, numbers] = [createOrigin, createMessage, createNumbers].map((create) => create(context));
  const [legend, transport, charts] = [createLegend, createTransport, createCharts].map((create) => create(context));
  const files = createFiles({ root, state: context.state, replayParts, isBusy, ...source });
  const tip = createTip(root);
  const flights = createFlights(context.state, { labelOf: tree.nodeOf, spansOf: text.spansOf });
  message.node.prepend(origin.node);
  const help = createHelp({ meanings: numbers.meanings, legend: legend.full, pageKeys });
  transport.controls.append(files.menu, help);
  const top = el("div", { class: "dv-top" }, message.node, files.node);
  root.classList.add("dv");
  root.tabIndex = 0;
  const below = [text, numbers, sentence, legend, tree, transport, timeline, charts, tip];
  root.replaceChildren(top, ...below.map((part) => part.node), flights.node);
  return { all: [origin, message, files, ...below], timeline, text, tree, files, flights };
}

// options: replayParts, what stands before and after a trace in the one file that replays it, from whoever knows;
// pageKeys: what the help says of the keys of the page around it.
export function mount(root, feed, options = {}) {
  const state = emptyState();
  const frames = createFrames(draw, () => (isLive(state) ? DRAWING_MS : 0));
  const showAll = () => { parts.timeline.view.auto = true; };
  const queue = [];
  const source = createSource(feed, (events) => {
    for (const event of events) queue.push(event);
    frames.ask();
  });
  const actions = createActions(state, frames.ask, showAll);
  let pointed = -1;
  const hover = (position) => {
    if (position === pointed) return;
    for (const part of parts.all) part.highlight?.(pointed, false);
    pointed = position;
    for (const part of parts.all) part.highlight?.(pointed, true);
  };
  const context = { state, actions, redraw: frames.ask, choose: actions.choose, hover };
  const isOn = () => isLive(state) || source.isWaiting();
  const isBusy = () => isOn() || queue.length > 0;
  const parts = createParts(root, context, source, { ...options, isBusy });

  function draw(seconds) {
    const events = queue.splice(0, EVENTS_AT_ONCE);
    for (const event of events) {
      if (event.type === "reset") showAll();
      applyEvent(state, event);
    }
    if (state.playing) advancePlay(state, seconds);
    root.dataset.iterations = state.iterations.length;
    // Of a file, the text alone is laid out as it comes, and the rest drawn at its end: nobody could follow it.
    if (state.file !== null && events.length) {
      parts.text.grow();
      return true;
    }
    writeAttributes(root, state, { isOn: isOn(), isWaiting: source.isWaiting() });
    for (const part of parts.all) part.draw();
    // What is scrolled is laid out for it: after all that changes the layout, so that this happens once. The text
    // comes last, for it changes more when it knows what is in sight.
    parts.tree.settle();
    parts.text.settle();
    parts.flights.draw();
    return queue.length > 0 || state.playing;
  }

  const stopKeys = listenToKeys(root, actions);
  root.dataset.iterations = 0;
  writeAttributes(root, state, {});
  frames.ask();
  const destroy = () => {
    stopKeys();
    parts.files.stop();
    frames.stop();
    root.remove();
  };
  return { destroy, show: actions.choose, showFile: source.showFile, state, run: source.own };
}
