// What is saved: the trace, the timeline as a Chrome trace, and a drawing as a picture that stands alone.

import { setAttributes } from "./dom.js";
import { known } from "./words.js";

const PICTURE_STYLES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "visibility", "display",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "text-decoration-line", "white-space", "unicode-bidi",
];
const MAX_CANVAS = 16_000;
const MARGIN = 8;

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The one file that replays a trace; its texts hold no markup.
export function replayPage([before, after], trace) {
  return new Blob([before, JSON.stringify(trace).replaceAll("<", "\\u003c"), after], { type: "text/html" });
}

export const traceOf = ({ header, iterations, end }) => ({ header, iterations, end });

export function fileName({ method, date }) {
  const when = String(date ?? "").slice(0, 19).replace(/[^0-9T-]/g, "");
  return `duoviz-${method}${when ? `-${when}` : ""}`;
}

const micro = (seconds) => Math.round(1e6 * seconds * 1000) / 1000;

function complete(lane, { start, end }, name, args) {
  return { name, cat: lane, ph: "X", ts: micro(start), dur: micro(end - start), pid: 1, tid: lane === "target" ? 1 : 2, args };
}

function iterationEvents(iteration) {
  const { index, target, draft, budget, longest, theta, sequences, verdict, committed } = iteration;
  const facts = { iteration: index, rows: target.rows, committed: committed.map((token) => token.text).join(""), outcome: verdict.outcome };
  for (const [name, value] of Object.entries({ gamma: budget, longest, theta, k: sequences })) if (known(value)) facts[name] = value;
  const steps = draft.map((step) => complete("draft", step, "draft step", { iteration: index, tokens: step.tokens }));
  return [complete("target", target, "target forward", facts), ...steps];
}

// The JSON array format of Chrome's trace viewer, which Perfetto opens too: complete events in microseconds.
export function chromeTrace({ header, iterations }) {
  const named = (name, tid, args) => ({ name, ph: "M", pid: 1, tid, args });
  const threads = [["target", 1], ["draft", 2]].filter(([lane]) => header[lane]);
  const names = threads.flatMap(([lane, tid]) => [
    named("thread_name", tid, { name: `${lane === "target" ? "Target" : "Draft"} · ${header[lane].device}` }),
    named("thread_sort_index", tid, { sort_index: tid }),
  ]);
  return [named("process_name", 0, { name: `duoviz ${header.method}` }), ...names, ...iterations.flatMap(iterationEvents)];
}

function backgroundOf(node) {
  for (let each = node; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    if (color && color !== "transparent" && !/, 0\)$/.test(color)) return color;
  }
  return "#ffffff";
}

function inlineStyles(from, to) {
  const style = getComputedStyle(from);
  to.setAttribute("style", PICTURE_STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  Array.from(from.children).forEach((child, index) => inlineStyles(child, to.children[index]));
}

// The drawing with all its styles in it, on its page's background.
export function standaloneSvg(drawing) {
  const [, , width, height] = drawing.getAttribute("viewBox")?.split(" ").map((each) => Math.ceil(Number(each)))
    ?? [0, 0, drawing.clientWidth, Number(drawing.getAttribute("height"))];
  const copy = drawing.cloneNode(true);
  inlineStyles(drawing, copy);
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN];
  copy.removeAttribute("tabindex");
  copy.setAttribute("width", box[2]);
  copy.setAttribute("height", box[3]);
  copy.setAttribute("viewBox", box.join(" "));
  const paper = document.createElementNS(drawing.namespaceURI, "rect");
  setAttributes(paper, { x: box[0], y: box[1], width: box[2], height: box[3], fill: backgroundOf(drawing) });
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width: box[2], height: box[3] };
}

export async function pngOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(2, MAX_CANVAS / Math.max(width, height));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0, width, height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}
