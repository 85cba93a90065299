// Saving and loading: all of it happens in the browser.

import { el, menu, section, setText, textButton } from "./dom.js";
import { clip, visible } from "./words.js";
import { eventsOf } from "./state.js";
import { MAX_FILE_BYTES, readTrace } from "./check.js";
import { chromeTrace, fileName, pngOf, replayPage, save, standaloneSvg, traceOf } from "./export.js";

const RUNNING = "A run is going on: load the file when it has ended, or stop it first.";
const LOADING = "The file before is still being shown: try again in a moment.";
const NOT_SAVED = "This could not be saved: the server does not answer, or the browser has no room for it.";
const json = (value) => new Blob([JSON.stringify(value)], { type: "application/json" });

function saveButtons({ state, drawings, replayParts }, tell) {
  const saved = (ending, make) => textButton(ending.label, async () => {
    const name = `${fileName(state.header)}${ending.name}`;
    const blob = await Promise.resolve().then(make).catch(() => null);
    if (blob) save(blob, name);
    tell(blob ? `Saved as ${name}.` : NOT_SAVED);
  });
  const picture = (part) => standaloneSvg(drawings[part]);
  const pictures = [["tree", "Tree"], ["timeline", "Timeline"]].flatMap(([part, title]) => [
    saved({ label: `${title} as SVG`, name: `-${part}.svg` }, () => new Blob([picture(part).text], { type: "image/svg+xml" })),
    saved({ label: `${title} as PNG`, name: `-${part}.png` }, () => pngOf(picture(part))),
  ]);
  return [
    saved({ label: "Save trace", name: ".duoviz.json" }, () => json(traceOf(state))),
    saved({ label: "Timeline for Perfetto", name: ".perfetto.json" }, () => json(chromeTrace(state))),
    ...(replayParts ? [saved({ label: "Save as one file", name: ".html" }, async () => replayPage(await replayParts(), traceOf(state)))] : []),
    ...pictures,
  ];
}

// {trace} or {problem}.
async function readFile(file) {
  if (file.size > MAX_FILE_BYTES) {
    return { problem: `This file has ${Math.ceil(file.size / 1e6)} MB, and a trace may have at most ${MAX_FILE_BYTES / 1e6} MB.` };
  }
  try {
    return await readTrace(await file.text());
  } catch {
    return { problem: "This file cannot be read." };
  }
}

function acceptDrops(root, load) {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const onOver = (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    root.classList.add("dv-dropping");
  };
  const onLeave = () => root.classList.remove("dv-dropping");
  const onDrop = (event) => {
    onLeave();
    if (!hasFiles(event)) return;
    event.preventDefault();
    load(event.dataTransfer.files[0]);
  };
  const listeners = { dragover: onOver, dragleave: onLeave, drop: onDrop };
  for (const [name, listener] of Object.entries(listeners)) root.addEventListener(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(listeners)) root.removeEventListener(name, listener);
  };
}

// context.isBusy: whether events are still to come; context.own: the run that the feed told; context.showFile and
// context.showOwn: show a file's events, or its.
export function createFiles(context) {
  const { root, state, own, isBusy, showFile, showOwn } = context;
  const message = el("p", { class: "dv-note dv-files-message", role: "status" });
  const tell = (text) => setText(message, text);
  let isReading = false, epoch = state.epoch;
  const refusal = () => (isReading || (isBusy() && state.file) ? LOADING : isBusy() ? RUNNING : null);
  const read = async (file) => {
    isReading = true;
    tell(`Reading ${clip(visible(file.name), 60)}.`);
    const { trace, problem } = await readFile(file);
    isReading = false;
    // A run may have begun while the file was read.
    const why = problem ?? refusal();
    if (why) return tell(why);
    showFile(eventsOf(trace, file.name));
    tell(`Shown: the file ${clip(visible(file.name), 60)}.`);
  };
  const load = (file) => {
    if (!file) return;
    if (refusal()) tell(refusal());
    else read(file);
  };
  const input = el("input", { type: "file", accept: ".json,application/json", hidden: "", "aria-label": "Trace file" });
  input.addEventListener("change", () => {
    load(input.files[0]);
    input.value = "";
  });
  const buttons = saveButtons(context, tell);
  const ownEvents = () => eventsOf(own, null, own.end ? undefined : { type: "connection", lost: own.lost });
  const back = textButton("Back to your run", () => showOwn(ownEvents()));
  const tools = el("div", { class: "dv-tools" }, textButton("Load trace…", () => input.click()), ...buttons, input);
  const hint = el("p", { class: "dv-note" }, "A trace file (.duoviz.json) can also be dropped on the page.");
  return {
    node: section("files", "Files", message, back, menu("files", "Files", tools, hint)),
    stop: acceptDrops(root, load),
    draw() {
      for (const button of buttons) button.disabled = !state.header || !state.iterations.length;
      if (epoch !== state.epoch && !state.file) tell("");
      epoch = state.epoch;
      back.hidden = !own.iterations.length || own.file !== null || !state.file;
    },
  };
}
