// Saving and loading: all of it happens in the browser.

import { el, listen, menu, section, setHidden, setText, textButton } from "./dom.js";
import { capital, clip, visible } from "./words.js";
import { eventsOf } from "./state.js";
import { MAX_FILE_BYTES, readTrace } from "./check.js";
import { fileName, replayPage, save, traceOf } from "./export.js";
import { createFilming } from "./film.js";
import { pngOf, slideOf } from "./picture.js";

const RUNNING = "A run is in progress: stop it, or load the file when it has ended.";
const LOADING = "The previous file is still loading: try again in a moment.";
const NOT_SAVED = "Saving failed: the server does not answer, or the browser has no space left.";
export const json = (value) => new Blob([JSON.stringify(value)], { type: "application/json" });

function saveButtons({ root, state, replayParts }, tell) {
  const saved = (label, ending, make) => textButton(label, async () => {
    const name = `${fileName(state.header)}${ending()}`;
    const blob = await make().catch(() => null);
    tell(blob ? save(blob, name) : NOT_SAVED);
  });
  const picture = (kind, make) => saved(
    `Save as picture (${kind.toUpperCase()})`, () => `-iteration-${state.shown}.${kind}`, async () => make(await slideOf(root, state)));
  const replay = async () => replayPage(await replayParts(), traceOf(state));
  return [
    saved("Save trace", () => ".duoviz.json", async () => json(traceOf(state))),
    ...(replayParts ? [saved("Save as web page (replay)", () => ".html", replay)] : []),
    picture("svg", (text) => new Blob([text], { type: "image/svg+xml" })), picture("png", pngOf),
  ];
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

// What `read` makes of a file's text: {problem} or another object.
async function readFile(file, kind, read) {
  if (file.size > MAX_FILE_BYTES) {
    return { problem: `This file has ${Math.ceil(file.size / 1e6)} MB, and a ${kind} may have at most ${MAX_FILE_BYTES / 1e6} MB.` };
  }
  return file.text().then(read).catch(() => ({ problem: "This file cannot be read." }));
}

// The button that opens files, and its field; they can be dropped on `root` too. kind: what they should hold; read: see
// `readFile`; refusal: why none can be shown now, null where one can; show: takes what was read and a name, and returns
// what is said; tell: says it, also of which kind: `status` or `error`.
export function createOpener(label, { root, kind, read, refusal, show, tell }) {
  let isReading = false;
  const load = async (file) => {
    if (!file) return;
    const refused = isReading ? LOADING : refusal();
    if (refused) return tell(refused);
    const name = clip(visible(file.name), 80);
    isReading = true;
    tell(`Reading ${name}.`);
    const found = await readFile(file, kind, read);
    isReading = false;
    if (found.problem) tell(found.problem, "error");
    else tell(refusal() ?? show(found, name));
  };
  const attributes = { type: "file", accept: ".json,application/json", "aria-label": `${capital(kind)} file` };
  const input = el("input", { ...attributes, hidden: "" });
  input.addEventListener("change", () => { load(input.files[0]); input.value = ""; });
  acceptDrops(root, load);
  return [textButton(label, () => input.click()), input];
}

// What became of a file, or of what was saved. tell(text, kind): says it; forget(state): no longer, once something else
// than this file is shown or waited for.
export function createTold() {
  const node = el("p", { class: "dv-note dv-files-message", role: "status" });
  let last = { epoch: 0, waits: 0 };
  const tell = (text, kind = "status") => {
    setText(node, text);
    node.dataset.kind = kind;
  };
  const forget = ({ epoch, waits, file, recorded }) => {
    const isOther = epoch !== last.epoch && (file === null || recorded);
    if (isOther || waits !== last.waits) tell("");
    last = { epoch, waits };
  };
  return { node, tell, forget };
}

// context.isBusy: whether events are still to come; context.own: the run that the feed told; context.showFile and
// context.showOwn: show a file's events, or its.
export function createFiles(context) {
  const { root, state, own, isBusy, showFile, showOwn } = context;
  const { node: message, tell, forget } = createTold();
  const isLoading = () => state.file !== null && state.phase !== "waiting";
  const refusal = () => (isBusy() ? isLoading() ? LOADING : RUNNING : null);
  const show = ({ trace }, name) => {
    showFile(eventsOf(trace, name));
    return `Shown: the file ${name}.`;
  };
  const opener = createOpener("Load trace…", { root, kind: "trace", read: readTrace, refusal, show, tell });
  const buttons = saveButtons(context, tell);
  const filming = createFilming(context, tell);
  const ownEvents = () => eventsOf(own, null, own.last ?? { type: "connection", lost: own.lost });
  const back = textButton("Back to your run", () => showOwn(ownEvents()));
  const hint = el("p", { class: "dv-note" }, "You can also drop a trace file (.duoviz.json) on the page.");
  const opened = menu("files", "Files", el("div", { class: "dv-tools" }, ...opener, ...buttons), ...filming.rows, hint);
  opened.querySelector("summary").addEventListener("click", filming.fill);
  return {
    node: section("files", "Files", message, filming.node, back),
    menu: opened,
    stop: filming.stop,
    draw() {
      if (isBusy()) filming.stop();
      for (const button of [...buttons, filming.button]) button.disabled = !state.header || !state.iterations.length;
      forget(state);
      setHidden(back, !own.iterations.length || own.file !== null || !state.file, root);
    },
  };
}
