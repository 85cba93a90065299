// What a stop's figure is made of, in large type: text, tree, and lanes without the axis.

import { el, setAttributes, svg } from "../visualizer/dom.js";
import { MODELS, originOf } from "../visualizer/methods.js";
import { createHatch, drawLanes, patternKeys } from "../visualizer/timeline.js";
import { edgeLine, placeItems, treeItems } from "../visualizer/layout.js";
import { eventsOf, stateAfter } from "../visualizer/state.js";
import { apart, clip, FATES, MARKS, visible } from "../visualizer/words.js";

export const hide = (...nodes) => nodes.forEach((node) => node.classList.add("dv-story-unwritten"));
export const reveal = (...nodes) => nodes.forEach((node) => node.classList.remove("dv-story-unwritten"));

export function bring(motion, node, from) {
  reveal(node);
  motion.appear(node, from);
}

function tokenNodes({ text, source }) {
  const [space, word] = apart(visible(text));
  return [space, el("span", { "class": "dv-token", "data-source": source }, word)];
}

// tail: what stands there, {isCut, tokens}; `spans`: of the tokens to come, each in its place already.
export function createText({ isCut, tokens }, coming, label = "") {
  const [written, awaited] = [tokens, coming].map((list) => list.map(tokenNodes));
  const spans = awaited.map(([, span]) => span);
  hide(...spans);
  const text = el("p", { class: "dv-story-text" }, isCut ? "…" : "", ...written.flat(), ...awaited.flat());
  const said = label ? [el("p", { class: "dv-story-label" }, label)] : [];
  return { node: el("div", { class: "dv-story-box" }, ...said, text), text, spans };
}

// What a text's colours mean, the marks of a tree's nodes, and the patterns of the lanes of a trace with this header.
export function createKey(statuses, { sources = ["draft", "target"], header = null } = {}) {
  const texts = sources.map((source) => (
    [{ "class": "dv-sample", "data-source": source }, "abc", MODELS[source] ?? originOf(source)]));
  const marks = Object.entries(FATES).filter(([status]) => statuses.includes(status))
    .map(([status, words]) => [{ "class": "dv-legend-mark", "data-status": status }, MARKS[status], words]);
  const entries = [...texts, ...marks].map(([look, mark, words]) => el("span", {}, el("span", look, mark), ` ${words}`));
  return el("p", { class: "dv-key" }, ...entries, ...(header ? patternKeys("span", header) : []));
}

// How much larger than on the stage the letters are at most, and from where on further lines gain nothing.
const [LARGEST, ENOUGH, MOST_LINES, ROWS, CAPTION] = [1.75, 1.5, 6, 30, 18];
const [LONGEST_START, LONGEST_LABEL] = [12, 14];

// isShort: whether of the text before there is room for no word.
function labelOf(item, { isCut, isShort }) {
  if (item.node) return clip(visible(item.node.text.trim() || item.node.text), LONGEST_LABEL);
  if (isShort) return "…";
  const last = item.label.replace(/^…/, "").split(" ").at(-1);
  return `${isCut ? "…" : ""}${clip(last, LONGEST_START)}`;
}

function nodeGroup({ x, y, width, label, node }) {
  const group = svg("g", { class: node ? "dv-node" : "dv-context", transform: `translate(${x} ${y})` });
  const text = svg("text", { "class": "dv-label", "x": 9, "y": 4, "data-source": node?.source ?? "" }, label);
  const mark = node ? [svg("text", { "class": "dv-mark", "x": width - 8, "y": 4, "text-anchor": "end" })] : [];
  group.append(svg("rect", { y: -11, width, height: 22, rx: 6 }), text, ...mark);
  return group;
}

// The largest that this place has room for.
function fitted(tree, { width, height, lines = MOST_LINES }) {
  for (let scale = ENOUGH; ; scale *= 0.98) {
    const places = placeItems(tree, width / scale, ROWS, { isHeaded: false });
    const fit = Math.min(LARGEST, width / places.right, height / (places.height - CAPTION));
    if (fit >= scale && tree.items.every(({ line }) => line < lines)) return { places, scale: fit };
  }
}

// nodes: in the order of their list, hung on the text before them. `parts`: of each node its group, edge, label and
// `show`.
export function createTree(nodes, tail, size) {
  const text = tail.tokens.map((token) => token.text).join("");
  const tree = treeItems({ checked: [], drafted: nodes, verdict: { sequence: null } }, text);
  const about = { isCut: tail.isCut || text.includes(" "), isShort: size.isShort };
  for (const item of tree.items) item.label = labelOf(item, about);
  const { places, scale } = fitted(tree, size);
  const drawing = svg("svg", {
    class: "dv-tree-drawing dv-story-tree", viewBox: `0 ${CAPTION} ${places.right} ${places.height - CAPTION}`,
    width: (scale * places.right).toFixed(1), height: (scale * (places.height - CAPTION)).toFixed(1),
  });
  const parts = [];
  for (const item of tree.items) {
    const group = nodeGroup(item);
    if (item.node) {
      const edge = svg("path", { class: "dv-edge", d: edgeLine(item, places.right) });
      drawing.append(edge);
      const show = (status) => {
        for (const part of [group, edge]) part.dataset.status = status;
        group.querySelector(".dv-mark").textContent = MARKS[status] ?? "";
      };
      parts[item.index] = { group, edge, node: item.node, label: group.querySelector(".dv-label"), show };
    }
    drawing.append(group);
  }
  return { node: drawing, parts };
}

// How much larger than on the stage, and where there is less room; and what the axis takes below the lanes.
const [LARGER, LESS_LARGE, NARROW, AXIS] = [1.6, 1.3, 900, 17];

export const forwardOf = ({ header }, seconds, rows) => ({
  header: { ...header, draft: null },
  iterations: [{
    index: 0, target: { start: 0, end: seconds, rows }, draft: [], candidates: [], sync: seconds, committed: [],
    verdict: { tested: 0, accepted: 0 },
  }],
});

// names: of the lanes, by lane; width: in pixels. `layer`: holds all but the names; `bars`: each with its rectangle,
// start and end.
export function createLanes(trace, { start, end, names, width, larger = width < NARROW ? LESS_LARGE : LARGER }) {
  const hatch = createHatch();
  const [layer, labels] = [svg("g"), svg("g")];
  const drawing = svg("svg", { class: "dv-story-lanes", "aria-hidden": "true" }, hatch.node, layer, labels);
  const state = stateAfter(eventsOf(trace));
  const inner = width / larger;
  drawLanes(drawing, layer, labels, { state, view: { start, end }, width: inner, hatch: hatch.id });
  const height = drawing.getAttribute("height") - AXIS;
  setAttributes(drawing, { viewBox: `0 0 ${inner} ${height}`, height: larger * height });
  for (const label of labels.children) label.textContent = names[label.dataset.lane];
  const bars = [...layer.querySelectorAll(".dv-bar")].map((rect) => (
    { rect, start: Number(rect.dataset.start), end: Number(rect.dataset.end) }
  ));
  return { node: drawing, layer, bars: bars.filter((bar) => bar.end > start && bar.start < end) };
}
