// A film of slides, as WebM: recorded by the browser while they are drawn, at the speed at which they play.

import { el, textButton } from "./dom.js";
import { save } from "./export.js";
import { imageOf } from "./picture.js";
import { withLength } from "./webm.js";

export const SLIDE = { width: 1280, height: 720 };
const FILM_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const FRAMES_PER_SECOND = 20;
const BITS_PER_SECOND = 6_000_000;
const NO_FILM = "This browser cannot record WebM: use Chrome, Edge or Firefox.";
const NOT_FILMED = "The browser stopped recording: no film was saved. Try again.";

const canFilm = () => globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream;
const filmType = () => (canFilm() ? FILM_TYPES.find((type) => MediaRecorder.isTypeSupported(type)) : undefined);
const nextSlideTime = () => new Promise((done) => {
  setTimeout(() => requestAnimationFrame(done), 1000 / FRAMES_PER_SECOND - 16);
});

// A place for what slides show, where the visitor does not see it.
export function createBackstage(root, ...nodes) {
  const place = el("div", { class: "dv-backstage", "aria-hidden": "true", inert: "" }, ...nodes);
  root.append(place);
  return { isSeen: () => place.clientWidth > 0, remove: () => place.remove() };
}

// The film as a blob; null where it was cancelled. slides: next(elapsed) gives the picture so many seconds after the
// one before, null at the end; isSeen(): whether they are laid out, without which nothing can be drawn.
async function filmOf(slides, type, { signal, tellPart }) {
  const canvas = Object.assign(document.createElement("canvas"), SLIDE);
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
    // Two frames, after which the drawings know how large they are.
    await nextSlideTime();
    await nextSlideTime();
    let picture = slides.next(0);
    // The first picture takes longest to make: no time passes in the film meanwhile.
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

// How far the film is that is being made, and a way to cancel it.
export function createFilming(tell) {
  const done = el("span");
  const progress = el("span", { class: "dv-progress", role: "progressbar", "aria-label": "The film" }, done);
  const tellPart = (part) => {
    progress.setAttribute("aria-valuenow", Math.round(100 * part));
    done.style.width = `${100 * part}%`;
  };
  const node = el("span", { class: "dv-filming", hidden: "" }, progress, textButton("Cancel", () => controller.abort()));
  let controller = null;
  const make = async (createSlides, type) => {
    const slides = createSlides();
    return filmOf(slides, type, { signal: controller.signal, tellPart }).finally(slides.remove);
  };
  return {
    node,
    stop: () => controller?.abort(),
    // told: what is said meanwhile.
    async film(createSlides, name, told) {
      const type = filmType();
      if (!type) return tell(NO_FILM);
      if (controller) return;
      controller = new AbortController();
      tellPart(0);
      node.hidden = false;
      tell(told);
      const blob = await make(createSlides, type).catch(() => undefined);
      if (blob) save(blob, name);
      tell(blob ? `Saved as ${name}.` : blob === null ? "Cancelled: no film was saved." : NOT_FILMED);
      node.hidden = true;
      controller = null;
    },
  };
}
