// A film of iterations, as WebM: drawn and encoded picture by picture, however long that takes.

import { el, textButton } from "./dom.js";
import { fileName, save } from "./export.js";
import { createSlides, imageOf, laidOut, SLIDE } from "./picture.js";
import { count } from "./words.js";
import { PACES, SLOWLY } from "./state.js";

const FRAMES_PER_SECOND = 20;
const FORMAT = { codec: "vp8", ...SLIDE, framerate: FRAMES_PER_SECOND, bitrate: 6_000_000 };

function bigEndian(value, bytes, write = "setBigUint64") {
  const view = new DataView(new ArrayBuffer(8));
  view[write](0, value);
  return view.buffer.slice(8 - bytes);
}
const whole = (value, bytes) => bigEndian(BigInt(value), bytes);

// An element of a WebM file: its id in hexadecimal, the size of what it holds, and that.
function element(id, ...parts) {
  const content = new Blob(parts);
  return new Blob([whole(`0x${id}`, id.length / 2), whole(2n ** 56n + BigInt(content.size), 8), content]);
}

// frames: {isKey, data}; each is a cluster of its own: its time in milliseconds, and a block (track 1, at that time).
function webmOf(frames) {
  const between = 1000 / FRAMES_PER_SECOND;
  const head = element("1a45dfa3", element("4282", "webm"), element("4287", whole(2, 1)), element("4285", whole(2, 1)));
  const length = bigEndian(between * frames.length, 8, "setFloat64");
  const info = element("1549a966", element("4489", length), element("4d80", "duoviz"), element("5741", "duoviz"));
  const size = element("e0", element("b0", whole(SLIDE.width, 2)), element("ba", whole(SLIDE.height, 2)));
  const [number, uid, isVideo] = ["d7", "73c5", "83"].map((id) => element(id, whole(1, 1)));
  const tracks = element("1654ae6b", element("ae", number, uid, isVideo, element("86", "V_VP8"), size));
  const clusters = frames.map(({ isKey, data }, at) => element("1f43b675",
    element("e7", whole(between * at, 4)), element("a3", whole(isKey ? 0x81000080 : 0x81000000, 4), data)));
  return new Blob([head, element("18538067", info, tracks, ...clusters)], { type: "video/webm" });
}

// A WebKit without encoders dies of being asked for VP8 by a VideoEncoder, and can say so of a recorder.
const canEncode = () => globalThis.VideoEncoder && globalThis.MediaRecorder?.isTypeSupported("video/webm;codecs=vp8");

// The film as a blob; null where it was cancelled.
async function filmOf(slides, { signal, tellPart }) {
  const pen = el("canvas", SLIDE).getContext("2d", { alpha: false });
  const frames = [];
  const keep = (chunk) => {
    const data = new Uint8Array(chunk.byteLength);
    chunk.copyTo(data);
    frames.push({ isKey: chunk.type === "key", data });
  };
  // An encoder that fails is closed, and takes nothing more.
  const encoder = new VideoEncoder({ output: keep, error() {} });
  encoder.configure(FORMAT);
  await laidOut();
  for (let at = 0, picture = slides.next(0); picture && !signal.aborted; at++) {
    const keyFrame = at % FRAMES_PER_SECOND === 0;
    if (keyFrame) await encoder.flush();
    pen.drawImage(await imageOf(picture), 0, 0, SLIDE.width, SLIDE.height);
    const frame = new VideoFrame(pen.canvas, { timestamp: (1e6 * at) / FRAMES_PER_SECOND });
    encoder.encode(frame, { keyFrame });
    frame.close();
    tellPart(slides.part());
    while (!slides.isSeen() && !signal.aborted) await laidOut();
    picture = slides.next(1 / FRAMES_PER_SECOND);
  }
  await encoder.flush();
  encoder.close();
  return signal.aborted ? null : webmOf(frames);
}

const [MOST_ITERATIONS, FILMED, SECONDS_EACH] = [40, 6, PACES[SLOWLY]];
const HINT = `A film (WebM) shows tree and timeline (where times are known), for slides: ${SECONDS_EACH} seconds per iteration.`;
const STILL_RUNNING = "Filming would slow the run: film it when it has ended.";
const NO_FILM = "No film can be made here: it takes Chrome, Edge or Firefox, and a secure connection or a page on this machine.";
const NOT_FILMED = "The browser could not make the film: none was saved.";
const TOO_LONG = `A film has at most ${MOST_ITERATIONS} iterations (${MOST_ITERATIONS * SECONDS_EACH} seconds): choose fewer.`;

// The part of a menu that asks for a film, filled from the iteration shown on, and what says how far it has come.
export function createFilming({ root, state, isBusy }, tell) {
  const done = el("span");
  const progress = el("span", { class: "dv-progress", role: "progressbar", "aria-label": "The film" }, done);
  const tellPart = (part) => {
    progress.setAttribute("aria-valuenow", Math.round(100 * part));
    done.style.width = `${100 * part}%`;
  };
  let controller = null;
  const stop = () => controller?.abort();
  const node = el("span", { class: "dv-filming", hidden: "" }, progress, textButton("Cancel", stop));
  const [first, last] = ["First", "Last"].map((which) => (
    el("input", { type: "number", class: "dv-field", min: 0, step: 1, "aria-label": `${which} iteration of the film` })));
  const endOf = () => Math.max(0, state.iterations.length - 1);
  const problemOf = (from, to) => {
    if (isBusy()) return STILL_RUNNING;
    if (![from, to].every(Number.isInteger) || from < 0 || from > to || to > endOf()) {
      return `Enter two iterations from 0 to ${endOf()}, the first not after the last.`;
    }
    if (to - from >= MOST_ITERATIONS) return TOO_LONG;
    return canEncode() ? null : NO_FILM;
  };
  const film = async () => {
    const [from, to] = [first.valueAsNumber, last.valueAsNumber];
    const problem = problemOf(from, to);
    if (problem || controller) return problem && tell(problem);
    button.closest("details").open = false;
    controller = new AbortController();
    tellPart(0);
    node.hidden = false;
    tell(`Filming ${count(to - from + 1, "iteration")}.`);
    const name = `${fileName(state.header)}-iterations-${from}-to-${to}.webm`;
    const slides = createSlides(root, state, { from, to });
    const made = filmOf(slides, { signal: controller.signal, tellPart }).finally(slides.remove);
    const blob = await made.catch(() => undefined);
    tell(blob ? save(blob, name) : blob === null ? "Cancelled: no film was saved." : NOT_FILMED);
    node.hidden = true;
    controller = null;
  };
  const button = textButton("Save as film", film);
  const hint = (words) => el("span", { class: "dv-hint" }, words);
  return {
    node, button, stop,
    rows: [el("div", { class: "dv-film" }, hint("Iterations"), first, hint("to"), last, button), el("p", { class: "dv-note" }, HINT)],
    fill() {
      const from = state.shown < endOf() ? Math.max(0, state.shown) : Math.max(0, endOf() - FILMED + 1);
      [first.value, last.value] = [from, Math.min(endOf(), from + FILMED - 1)];
    },
  };
}
