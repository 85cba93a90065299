// A film of slides, as WebM: recorded by the browser while they are drawn, at the speed at which they play.

import { el, textButton } from "./dom.js";
import { save, savedAs } from "./export.js";
import { aboutOf } from "./methods.js";
import { boxOf, createSheet, finished, imageOf, placed, timelineLegend, titleNodes, treeLegend } from "./picture.js";
import { PACES, SLOWLY } from "./pace.js";
import { advancePlay } from "./player.js";
import { beginAt, isTimed, spanOf } from "./state.js";
import { createTimeline } from "./timeline.js";
import { saidOf } from "./transport.js";
import { createTree } from "./tree.js";

const [SEGMENT_ID, INFO_ID, LENGTH_ID] = [0x18538067, 0x1549a966, 0x4489];
const OPEN_END = Infinity;

const numberIn = (bytes, at, length) => bytes.slice(at, at + length).reduce((number, byte) => 256 * number + byte, 0);

// The element {id, start, from, end} that begins here; its content goes from `from` to `end`.
function elementAt(bytes, start) {
  const idLength = Math.clz32(bytes[start]) - 23;
  const sizeLength = Math.clz32(bytes[start + idLength]) - 23;
  const from = start + idLength + sizeLength;
  // The first byte's first 1 only tells how many bytes the size has; nothing but ones is an open end.
  const first = bytes[start + idLength] - 2 ** (8 - sizeLength);
  const size = numberIn([first, ...bytes.slice(start + idLength + 1, from)], 0, sizeLength);
  const end = size === 2 ** (7 * sizeLength) - 1 ? OPEN_END : from + size;
  return { id: numberIn(bytes, start, idLength), start, from, end };
}

function lengthElement(milliseconds) {
  const view = new DataView(new ArrayBuffer(11));
  view.setUint16(0, LENGTH_ID);
  view.setUint8(2, 0x88);
  view.setFloat64(3, milliseconds);
  return new Uint8Array(view.buffer);
}

// The same film, and where its head is as browsers write it, with its length.
function withLength(bytes, seconds) {
  const segment = elementAt(bytes, elementAt(bytes, 0).end);
  const info = segment.id === SEGMENT_ID && segment.end === OPEN_END ? elementAt(bytes, segment.from) : {};
  if (info.id !== INFO_ID) return [bytes];
  const content = [bytes.slice(info.from, info.end), lengthElement(1000 * seconds)];
  const size = new DataView(new ArrayBuffer(12));
  size.setUint32(0, INFO_ID);
  size.setBigUint64(4, 2n ** 56n + BigInt(content.reduce((sum, { length }) => sum + length, 0)));
  return [bytes.slice(0, info.start), size.buffer, ...content, bytes.slice(info.end)];
}

export const SLIDE = { width: 1280, height: 720 };
const FILM_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const FRAMES_PER_SECOND = 20;
const BITS_PER_SECOND = 6_000_000;
const NO_FILM = "This browser cannot record WebM: use Chrome, Edge or Firefox.";
const NOT_FILMED = "The browser stopped recording: no film was saved. Try again.";

const filmType = () => globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
  && FILM_TYPES.find((type) => MediaRecorder.isTypeSupported(type));
const nextSlideTime = () => new Promise((done) => {
  setTimeout(() => requestAnimationFrame(done), 1000 / FRAMES_PER_SECOND - 16);
});

export function createBackstage(root, ...nodes) {
  const place = el("div", { class: "dv-backstage", "aria-hidden": "true", inert: "" }, ...nodes);
  root.append(place);
  return { isSeen: () => place.clientWidth > 0, remove: () => place.remove() };
}

// The film as a blob; null where it was cancelled. slides: next(elapsed) gives the picture so many seconds after the
// one before, null at the end; isSeen(): whether they are laid out, without which nothing can be drawn.
async function filmOf(slides, type, { signal, tellPart }) {
  const canvas = el("canvas", SLIDE);
  const pen = canvas.getContext("2d", { alpha: false });
  const stream = canvas.captureStream(FRAMES_PER_SECOND);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: BITS_PER_SECOND });
  const draw = async (picture) => pen.drawImage(await imageOf(picture), 0, 0, SLIDE.width, SLIDE.height);
  const pieces = [];
  let seconds = 0;
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const ended = new Promise((done) => { recorder.addEventListener("stop", done); });
  // What nobody sees is not drawn, and no time passes in the film.
  const goesOn = () => {
    const isSeen = !document.hidden && slides.isSeen();
    if (isSeen && recorder.state === "paused") recorder.resume();
    if (!isSeen && recorder.state === "recording") recorder.pause();
    return isSeen;
  };
  document.addEventListener("visibilitychange", goesOn);
  try {
    await nextSlideTime();
    await nextSlideTime();
    let picture = slides.next(0);
    if (picture) await draw(picture);
    let last = await nextSlideTime();
    recorder.start(1000);
    while (picture && !signal.aborted) {
      if (recorder.state === "inactive") throw new Error("the browser stopped recording");
      await draw(picture);
      tellPart(slides.part());
      let now = await nextSlideTime();
      while (!goesOn() && !signal.aborted) last = now = await nextSlideTime();
      picture = slides.next((now - last) / 1000);
      seconds += (now - last) / 1000;
      last = now;
    }
    recorder.stop();
    await ended;
  } finally {
    document.removeEventListener("visibilitychange", goesOn);
    for (const track of stream.getTracks()) track.stop();
  }
  if (signal.aborted) return null;
  return new Blob(withLength(new Uint8Array(await new Blob(pieces).arrayBuffer()), seconds), { type: "video/webm" });
}

export function createFilming(tell) {
  const done = el("span");
  const progress = el("span", { class: "dv-progress", role: "progressbar", "aria-label": "The film" }, done);
  const tellPart = (part) => {
    progress.setAttribute("aria-valuenow", Math.round(100 * part));
    done.style.width = `${100 * part}%`;
  };
  const node = el("span", { class: "dv-filming", hidden: "" }, progress, textButton("Cancel", () => controller.abort()));
  let controller = null;
  const make = async (makeSlides, type) => {
    const slides = makeSlides();
    return filmOf(slides, type, { signal: controller.signal, tellPart }).finally(slides.remove);
  };
  return {
    node,
    stop: () => controller?.abort(),
    async film(makeSlides, name, told) {
      const type = filmType();
      if (!type) return tell(NO_FILM);
      if (controller) return;
      controller = new AbortController();
      tellPart(0);
      node.hidden = false;
      tell(told);
      const blob = await make(makeSlides, type).catch(() => undefined);
      if (blob) save(blob, name);
      tell(blob ? savedAs(name) : blob === null ? "Cancelled: no film was saved." : NOT_FILMED);
      node.hidden = true;
      controller = null;
    },
  };
}

export const MOST_ITERATIONS = 40;
export const SECONDS_EACH = PACES[SLOWLY];
const [SLIDE_MARGIN, SLIDE_GAP] = [32, 16];
const INSIDE = SLIDE.width - 2 * SLIDE_MARGIN;
const [TITLE_SIZE, SAID_SIZE, SAID_LINES, LEGEND_SCALE] = [22, 20, 2, 1.3];
// The drawings' own width, in visualizer.css: so the tree is as much larger as the timeline, if it is not too high.
const TREE_SCALE = INSIDE / 868;

// From the bottom to the top: the legend, the timeline as wide as the slide, and the tree in what is left.
function slideNodes(sheet, state, { tree, timeline }) {
  const { header } = state;
  const title = `${aboutOf(header).title}, iteration ${state.shown}`;
  const [said, head] = [{ size: SAID_SIZE }, SLIDE_MARGIN + TITLE_SIZE];
  const sentence = sheet.wrapped(saidOf(state), INSIDE, said).slice(0, SAID_LINES);
  const lineY = (row) => head + SLIDE_GAP + (row + 1) * 1.3 * SAID_SIZE;
  const texts = sentence.map((words, row) => sheet.line(words, { x: SLIDE_MARGIN, y: lineY(row), ...said }));
  const lanes = isTimed(header) ? timeline.drawing : null;
  const entries = [...treeLegend(sheet, header, { full: false }), ...(lanes ? timelineLegend(sheet, header) : [])];
  const { height } = sheet.legend(entries, { x: 0, y: 0, width: INSIDE, scale: LEGEND_SCALE });
  const legendTop = SLIDE.height - SLIDE_MARGIN / 2 - height;
  const [, , lanesWidth, lanesHeight] = lanes ? boxOf(lanes) : [0, 0, INSIDE, 0];
  const lanesScale = INSIDE / lanesWidth;
  const lanesTop = legendTop - SLIDE_GAP / 2 - lanesScale * lanesHeight;
  const treeTop = head + 2 * SLIDE_GAP + SAID_LINES * 1.3 * SAID_SIZE;
  const treeScale = Math.min(TREE_SCALE, (lanesTop - SLIDE_GAP - treeTop) / boxOf(tree.drawing).at(-1));
  return [
    ...titleNodes(sheet, title, header, { x: SLIDE_MARGIN, y: head, width: INSIDE, size: TITLE_SIZE }), ...texts,
    placed(tree.drawing, { x: SLIDE_MARGIN, y: treeTop, scale: treeScale }),
    ...(lanes ? [placed(lanes, { x: SLIDE_MARGIN, y: lanesTop, scale: lanesScale })] : []),
    ...sheet.legend(entries, { x: SLIDE_MARGIN, y: legendTop, width: INSIDE, scale: LEGEND_SCALE }).nodes,
  ];
}

// The slides of the iterations from `from` to `to` of what `shown` knows; see film.js. What is shown on the page stays
// as it is.
export function createSlides(root, shown, { from, to }) {
  const state = { ...shown, playing: true, follow: false, speed: SLOWLY };
  beginAt(state, from);
  const context = { state, redraw() {}, choose() {}, hover() {} };
  const drawn = { tree: createTree(context), timeline: createTimeline(context) };
  const sheet = createSheet(root);
  return {
    ...createBackstage(root, drawn.tree.node, drawn.timeline.node),
    part() {
      const { begin, end } = spanOf(state.iterations, state.shown);
      return (state.shown - from + (state.clock - begin) / (end - begin || 1)) / (to - from + 1);
    },
    next(elapsed) {
      advancePlay(state, elapsed);
      if (!state.playing || state.shown > to) return null;
      for (const part of Object.values(drawn)) part.draw();
      return finished(sheet, slideNodes(sheet, state, drawn), SLIDE);
    },
  };
}
