// Puts the race together: `mountRace(root, feed)` draws what the feed tells of two methods on one prompt.

import { el, setText } from "../visualizer/dom.js";
import { listenToKeys } from "../visualizer/keys.js";
import { originOf } from "../visualizer/methods.js";
import { applyRaceEvent, emptyRace, iterationAt, sidesOf, tokensOf } from "./model.js";
import { advanceClock, createRaceActions, placeSides } from "./clock.js";
import { createControls, createRaceMessage } from "./controls.js";
import { createColumn, twinWords } from "./column.js";
import { createCurves } from "./curves.js";
import { createFinish } from "./finish.js";
import { createInside } from "./inside.js";
import { createRaceFiles } from "./race_files.js";
import { eventsOfRace } from "./race_file.js";

const RACE_EVENTS_PER_FRAME = 200;
const reducesMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Hovering a token lights up the same one on the other side, and hovering the chart what both had at that time.
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
    setText(note, time === null ? "" : curves().momentWords(time));
  };
  return { note, twin, hoverTime };
}

// What the kinds of underline in the texts mean.
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
        for (const { source } of state.iterations.flatMap(({ committed }) => committed)) origins.set(source, originOf(source, state.header));
      }
      node.replaceChildren(...[...origins].map(([source, words]) => (
        el("li", {}, el("span", { class: "dv-sample", "data-source": source }, "abc"), ` ${words}`)
      )));
    },
  };
}

function writeRaceAttributes(root, race) {
  Object.assign(root.dataset, {
    state: race.recorded && race.phase === "done" ? "recording" : race.phase, clock: race.clock, playing: race.playing,
    iterations: sidesOf(race).reduce((sum, lane) => sum + lane.state.iterations.length, 0),
  });
}

// options: of the visualizers that look inside, see `mount`; opening: gives the events of the race that is shown first.
export function mountRace(root, feed, options = {}) {
  const race = emptyRace();
  const queue = [];
  let frame = 0, lastTime = null, columns = [], insides = [], lanes = race.lanes;
  // The race that was shown before a file's.
  let own = null;

  const redraw = () => { frame ||= requestAnimationFrame(draw); };
  const actions = createRaceActions(race, redraw);
  const links = createLinks(race, () => curves, () => columns);
  const lookAt = (lane, position) => insides[race.lanes.indexOf(lane)]?.show(position);
  const context = { race, actions, options, lookAt, twin: links.twin, hoverTime: links.hoverTime };
  const curves = createCurves(context);
  const sides = el("div", { class: "dv-sides" });
  const [message, controls, finish, sources] = [createRaceMessage, createControls, createFinish, createSources].map((create) => create(context));
  const view = el("div", { class: "dv dv-race", tabindex: "0" });
  const isBusy = () => race.phase === "running" || race.phase === "waiting" || queue.length > 0;
  const showRace = (told, file) => {
    if (race.file === null) own = race.phase === "empty" ? null : { ...race };
    for (const event of eventsOfRace(told, { file })) applyRaceEvent(race, event);
    if (!reducesMotion()) actions.play();
    redraw();
  };
  const showOwn = () => {
    Object.assign(race, own, { epoch: race.epoch + 1, playing: false });
    redraw();
  };
  const files = createRaceFiles({ view, race, isBusy, hasOwn: () => own !== null, showRace, showOwn });
  const parts = [message, files, controls, curves, finish, sources];
  const below = el("div", { class: "dv-race-below" }, curves.node, finish.node);
  const under = el("div", { class: "dv-under" }, sources.node, links.note);
  view.append(el("div", { class: "dv-race-top" }, message.node, files.node), sides, under, controls.node, below, finish.why);
  const inside = el("div", { class: "dv-insides" });

  const setUp = () => {
    lanes = race.lanes;
    insides.forEach((each) => each.close());
    links.twin(-1);
    columns = sidesOf(race).map((lane, place) => createColumn(lane, place, context));
    insides = sidesOf(race).map((lane, place) => createInside(lane, place, context));
    sides.replaceChildren(...columns.map((column) => column.node));
    inside.replaceChildren(...insides.map((each) => each.node));
  };
  const take = () => {
    for (const event of queue.splice(0, RACE_EVENTS_PER_FRAME)) {
      applyRaceEvent(race, event);
      if (event.type === "end" && event.result && !reducesMotion()) actions.play();
    }
  };
  const draw = (time) => {
    frame = 0;
    take();
    if (race.playing) advanceClock(race, lastTime === null ? 0 : (time - lastTime) / 1000);
    lastTime = race.playing ? time : null;
    if (lanes !== race.lanes) setUp();
    placeSides(race);
    writeRaceAttributes(view, race);
    for (const part of [...parts, ...columns, ...insides]) part.draw();
    for (const column of columns) column.settle();
    if (queue.length || race.playing) redraw();
  };

  const open = () => options.opening?.().then((events) => {
    if (race.phase !== "empty" || queue.length) return;
    queue.push(...events);
    redraw();
  });
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    seen.disconnect();
    if (race.phase === "empty") open();
  });

  root.replaceChildren(view, inside);
  seen.observe(view);
  listenToKeys(view, actions);
  curves.watch(redraw);
  feed.subscribe((event) => {
    queue.push(event);
    redraw();
  });
  writeRaceAttributes(view, race);
  redraw();
}
