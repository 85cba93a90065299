// Saving and loading: all of it happens in the browser.

import { el, listen, menu, section, setHidden, setText, textButton } from "./dom.js";
import { capital, clip, visible } from "./words.js";
import { eventsOf, isTimed } from "./state.js";
import { MAX_FILE_BYTES, readTrace } from "./check.js";
import { chromeTrace, fileName, replayPage, save, savedAs, traceOf } from "./export.js";
import { createFilming, createSlides, MOST_ITERATIONS, SECONDS_EACH } from "./film.js";
import { pngOf, createPictures } from "./picture.js";
import { readFile } from "./json.js";

const RUNNING = "A run is in progress: stop it, or load the file when it has ended.";
const LOADING = "The previous file is still loading: try again in a moment.";
const NOT_SAVED = "Saving failed: the server does not answer, or the browser has no space left.";
const STILL_RUNNING = "Filming would slow the run: film it when it has ended.";
const FILMED = 6;
// What there is of runs alone whose times are known.
const OF_TIME = "dv-of-time";
export const json = (value) => new Blob([JSON.stringify(value)], { type: "application/json" });

function saveButtons(context, tell) {
  const { state, replayParts } = context;
  const saved = (label, ending, make) => textButton(label, async () => {
    const name = `${fileName(state.header)}${ending}`;
    const blob = await Promise.resolve().then(make).catch(() => null);
    if (blob) save(blob, name);
    tell(blob ? savedAs(name) : NOT_SAVED);
  });
  const ofTime = (button) => {
    button.classList.add(OF_TIME);
    return button;
  };
  const pictures = Object.entries(createPictures(context)).flatMap(([part, make]) => [
    saved(`${capital(part)} as SVG`, `-${part}.svg`, () => new Blob([make().text], { type: "image/svg+xml" })),
    saved(`${capital(part)} as PNG`, `-${part}.png`, () => pngOf(make())),
  ].map(part === "timeline" ? ofTime : (button) => button));
  return [
    saved("Save trace", ".duoviz.json", () => json(traceOf(state))),
    ofTime(saved("Save trace for Perfetto", ".perfetto.json", () => json(chromeTrace(state)))),
    ...(replayParts ? [saved("Save as web page (replay)", ".html", async () => replayPage(await replayParts(), traceOf(state)))] : []),
    ...pictures,
  ];
}

function createFilmRow({ root, state, isBusy }, filming, tell) {
  const field = (label) => el("input", { type: "number", class: "dv-field", min: 0, step: 1, "aria-label": label });
  const [first, last] = [field("First iteration of the film"), field("Last iteration of the film")];
  let given = "", epoch = state.epoch;
  for (const each of [first, last]) each.addEventListener("input", () => { given = "typed"; });
  const button = textButton("Save as film", () => {
    const [from, to, end] = [first.valueAsNumber, last.valueAsNumber, state.iterations.length - 1];
    if (isBusy()) return tell(STILL_RUNNING);
    if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= end)) {
      return tell(`Enter two iterations from 0 to ${end}, the first not after the last.`);
    }
    const number = to - from + 1;
    if (number > MOST_ITERATIONS) return tell(`A film has at most ${MOST_ITERATIONS} iterations (${(MOST_ITERATIONS * SECONDS_EACH) / 60} minutes): choose fewer.`);
    const told = `Filming for ${number * SECONDS_EACH} seconds. Keep this page visible.`;
    button.closest("details").open = false;
    return filming.film(() => createSlides(root, state, { from, to }), `${fileName(state.header)}-iterations-${from}-to-${to}.webm`, told);
  });
  return {
    node: el("div", { class: "dv-film" }, el("span", { class: "dv-hint" }, "Iterations"), first, el("span", { class: "dv-hint" }, "to"), last, button),
    draw() {
      button.disabled = !state.header || !state.iterations.length;
      const end = Math.max(0, state.iterations.length - 1);
      const from = state.shown < end ? Math.max(0, state.shown) : Math.max(0, end - FILMED + 1);
      const key = `${from} to ${end}`;
      if (epoch === state.epoch && (given === key || given === "typed")) return;
      [given, epoch] = [key, state.epoch];
      [first.value, last.value] = [from, Math.min(end, from + FILMED - 1)];
    },
  };
}

function acceptDrops(root, load) {
  const hear = (isOver, act = () => {}) => (event) => {
    const hasFiles = event.dataTransfer?.types.includes("Files");
    root.classList.toggle("dv-dropping", Boolean(isOver && hasFiles));
    if (!hasFiles) return;
    event.preventDefault();
    act(event.dataTransfer.files[0]);
  };
  listen(root, { dragover: hear(true), dragleave: hear(false), drop: hear(false, load) });
}

// The button that opens files, and its field; they can be dropped on `root` too. kind, read: see `readFile`; refusal:
// why none can be shown now, null where one can; show: takes what was read and a name, and returns what is said.
export function createOpener(label, { root, kind, read, refusal, show, tell }) {
  let isReading = false;
  const load = async (file) => {
    if (!file) return;
    const refused = isReading ? LOADING : refusal();
    if (refused) return tell(refused);
    const name = clip(visible(file.name), 80);
    isReading = true;
    tell(`Reading ${name}.`);
    const found = await readFile(file, { kind, most: MAX_FILE_BYTES, read });
    isReading = false;
    tell(found.problem ?? refusal() ?? show(found, name));
  };
  const attributes = { type: "file", accept: ".json,application/json", "aria-label": `${capital(kind)} file` };
  const input = el("input", { ...attributes, hidden: "" });
  input.addEventListener("change", () => { load(input.files[0]); input.value = ""; });
  acceptDrops(root, load);
  return [textButton(label, () => input.click()), input];
}

// context.drawings: see picture.js; context.isBusy: whether events are still to come; context.own: the run that the
// feed told; context.showFile and context.showOwn: show a file's events, or its.
export function createFiles(context) {
  const { root, state, own, isBusy, showFile, showOwn } = context;
  const message = el("p", { class: "dv-note dv-files-message", role: "status" });
  const tell = (text) => setText(message, text);
  let epoch = state.epoch;
  const isLoading = () => state.file !== null && state.phase !== "waiting";
  const refusal = () => (isBusy() ? isLoading() ? LOADING : RUNNING : null);
  const show = ({ trace }, name) => {
    showFile(eventsOf(trace, name));
    return `Shown: the file ${name}.`;
  };
  const opener = createOpener("Load trace…", { root, kind: "trace", read: readTrace, refusal, show, tell });
  const buttons = saveButtons(context, tell);
  const filming = createFilming(tell);
  const filmRow = createFilmRow(context, filming, tell);
  const ownEvents = () => eventsOf(own, null, own.last ?? { type: "connection", lost: own.lost });
  const back = textButton("Back to your run", () => showOwn(ownEvents()));
  const filmHint = el("p", { class: "dv-note" }, `A film (WebM) shows tree and timeline (where times are known), for slides: ${SECONDS_EACH} seconds per iteration, and as long to make.`);
  const hint = el("p", { class: "dv-note" }, "You can also drop a trace file (.duoviz.json) on the page.");
  return {
    node: section("files", "Files", message, filming.node, back),
    menu: menu("files", "Files", el("div", { class: "dv-tools" }, ...opener, ...buttons), filmRow.node, filmHint, hint),
    stop: filming.stop,
    draw() {
      filmRow.draw();
      if (isBusy()) filming.stop();
      for (const button of buttons) {
        button.disabled = !state.header || !state.iterations.length;
        button.hidden = button.classList.contains(OF_TIME) && !isTimed(state.header);
      }
      if (epoch !== state.epoch && !state.file) tell("");
      epoch = state.epoch;
      setHidden(back, !own.iterations.length || own.file !== null || !state.file, root);
    },
  };
}
