// Puts the race together: `mountRace(root, feed)` draws what the feed tells of two methods on one prompt.

import { el, setText } from "../visualizer/dom.js";
import { listenToKeys } from "../visualizer/keys.js";
import { MODELS, originOf } from "../visualizer/methods.js";
import { createFrames } from "../visualizer/motion.js";
import { mount } from "../visualizer/mount.js";
import { wantsNoMotion } from "../visualizer/player.js";
import { eventsOf } from "../visualizer/state.js";
import { coresWords, createColumn, nameParts, twinWords } from "./column.js";
import { createControls, createRaceMessage } from "./controls.js";
import { createCurves, momentWords } from "./curves.js";
import { createFinish } from "./finish.js";
import {
  advanceClock, applyRaceEvent, createRaceActions, emptyRace, iterationAt, placeSides, sidesOf, tokensOf,
} from "./model.js";
import { createRaceFiles } from "./race_file.js";

function createInside(lane, place, { race, options }) {
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
    nameParts(node, `inside the run of ${lane.name}`);
  });
  return {
    node,
    close,
    show: (position) => visualizer?.show(position),
    draw() { node.hidden = !shownRun(); },
  };
}

const RACE_EVENTS_PER_FRAME = 200;

function createLinks(race, curves, columns) {
  const note = el("p", { class: "dv-note dv-twins" });
  let [token, positions] = [-1, []];
  const twin = (next) => {
    if (next === token) return;
    for (const column of columns()) column.mark(token, false);
    token = next;
    for (const column of columns()) column.mark(token, true);
    setText(note, token < 0 ? "" : twinWords(race, token));
  };
  const hoverTime = (time) => {
    columns().forEach((column, place) => column.highlight(positions[place] ?? -1, false));
    positions = time === null ? [] : sidesOf(race).map((lane) => iterationAt(lane, time));
    columns().forEach((column, place) => column.highlight(positions[place] ?? -1, true));
    curves().showCross(time);
    setText(note, time === null ? "" : momentWords(race, time));
  };
  return { note, twin, hoverTime };
}

function createSources({ race }) {
  const node = el("ul", { class: "dv-legend-list dv-sources" });
  let told = "";
  return {
    node,
    draw() {
      const key = `${race.epoch} ${race.lanes.map(tokensOf)}`;
      if (key === told) return;
      told = key;
      const origins = new Map();
      for (const { state } of sidesOf(race)) {
        const tokens = state.iterations.flatMap(({ committed }) => committed);
        for (const { source } of tokens) origins.set(source, MODELS[source] ? `${MODELS[source]} (${source})` : originOf(source, state.header));
      }
      const guessesFirst = [...origins].sort(([one], [other]) => (one === "target") - (other === "target"));
      node.replaceChildren(...guessesFirst.map(([source, words]) => (
        el("li", {}, el("span", { class: "dv-sample", "data-source": source }, "abc"), ` ${words}`)
      )));
    },
  };
}

function writeAttributes(root, race) {
  Object.assign(root.dataset, {
    state: race.recorded && race.phase === "done" ? "recording" : race.phase, clock: race.clock, playing: race.playing,
    iterations: sidesOf(race).reduce((sum, lane) => sum + lane.state.iterations.length, 0),
  });
}

function createSides(race) {
  const [node, insideNode] = [el("div", { class: "dv-sides" }), el("div", { class: "dv-insides" })];
  let lanes = race.lanes, columns = [], insides = [];
  return {
    node, insideNode,
    columns: () => columns,
    parts: () => [...columns, ...insides],
    lookAt: (place, position) => insides[place]?.show(position),
    makeAnew(context) {
      if (lanes === race.lanes) return false;
      lanes = race.lanes;
      insides.forEach((inside) => inside.close());
      columns = sidesOf(race).map((lane, place) => createColumn(lane, place, context));
      insides = sidesOf(race).map((lane, place) => createInside(lane, place, context));
      node.replaceChildren(...columns.map((column) => column.node));
      insideNode.replaceChildren(...insides.map((inside) => inside.node));
      return true;
    },
  };
}

// options: of the visualizers that look inside, see `mount`; restored: a promise of the events of what was shown
// before; recordings: races {name, events}, of which the first is shown where that was nothing; chosen: called with
// another one as it is shown. Gives the race.
export function mountRace(root, feed, { recordings, restored, chosen, ...options }) {
  const [race, queue] = [emptyRace(), []];
  const frames = createFrames(draw);
  const add = (events) => {
    queue.push(...events);
    frames.ask();
  };
  const actions = createRaceActions(race, frames.ask);
  const hear = (event) => {
    applyRaceEvent(race, event);
    if (event.type === "end" && event.result && !wantsNoMotion()) actions.play();
  };
  const showAll = (events) => {
    events.forEach(hear);
    frames.ask();
  };
  const sides = createSides(race);
  const links = createLinks(race, () => curves, sides.columns);
  const show = async (recording) => {
    const events = await recording.events();
    if (!isBusy() && (race.phase === "empty" || race.recorded)) add(events);
  };
  const choose = (recording) => {
    show(recording);
    chosen(recording);
  };
  const context = { race, actions, options, recordings, choose, ...links, lookAt: sides.lookAt, redraw: frames.ask };
  const create = [createCurves, createRaceMessage, createControls, createFinish, createSources];
  const [curves, message, controls, finish, sources] = create.map((part) => part(context));
  const cores = el("p", { class: "dv-note dv-cores" });
  const view = el("div", { class: "dv dv-race", tabindex: "0" });
  const isBusy = () => race.phase === "running" || race.phase === "waiting" || queue.length > 0;
  const files = createRaceFiles({ view, race, isBusy, showAll, redraw: frames.ask });
  const parts = [message, files, controls, curves, finish, sources];

  function draw(seconds) {
    queue.splice(0, RACE_EVENTS_PER_FRAME).forEach(hear);
    if (race.playing) advanceClock(race, seconds);
    if (sides.makeAnew(context)) links.twin(-1);
    placeSides(race);
    writeAttributes(view, race);
    for (const part of [...parts, ...sides.parts()]) part.draw();
    setText(cores, coresWords(race));
    for (const column of sides.columns()) column.settle();
    return queue.length > 0 || race.playing;
  }

  const top = el("div", { class: "dv-race-top" }, message.node, files.node);
  const under = el("div", { class: "dv-under" }, sources.node, links.note);
  view.append(top, sides.node, under, cores, controls.node, el("div", { class: "dv-race-below" }, curves.node, finish.node), finish.why);
  root.replaceChildren(view, sides.insideNode);
  const begun = restored.then(showAll);
  const whenSeen = new IntersectionObserver(async (entries) => {
    if (!entries.at(-1).isIntersecting) return;
    whenSeen.disconnect();
    await begun;
    if (race.phase === "empty" && recordings.length) show(recordings[0]);
  });
  whenSeen.observe(view);
  listenToKeys(view, actions);
  feed.subscribe((event) => add([event]));
  writeAttributes(view, race);
  frames.ask();
  return race;
}
