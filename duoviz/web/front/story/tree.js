// The stage's tree, in large type, of what a stop is about: a token has its place, and is seen when it is its turn.

import { svg } from "../visualizer/dom.js";
import { bestLines, COLUMN_GAP, foldColumns } from "../visualizer/fold.js";
import { placeItems, treeItems } from "../visualizer/layout.js";
import { clip, MARKS, visible } from "../visualizer/words.js";

// How much larger than on the stage the letters are at most, and from where on further lines gain nothing.
const [LARGEST, ENOUGH, MOST_LINES, ROWS, CAPTION] = [1.75, 1.5, 6, 30, 18];
const [LONGEST_START, LONGEST_LABEL, LETTER] = [12, 14, 7.4];

// isShort: whether of the text before there is room for no word.
function labelOf(item, { isCut = false, isShort = false } = {}) {
  if (item.node) return clip(visible(item.node.text.trim() || item.node.text), LONGEST_LABEL);
  if (isShort) return "…";
  const last = item.label.replace(/^…/, "").split(" ").at(-1);
  return `${isCut ? "…" : ""}${clip(last, LONGEST_START)}`;
}

// To the next line it leaves at the right, and comes in at the left.
function edgePath({ from, x, y, line, entry, list, index, node }, right) {
  const [end, isSame] = [from.x + from.width, from.line === line];
  const [x0, y0] = isSame ? [end, from.y] : [0, entry];
  const middle = Math.max(x0, x - COLUMN_GAP / 2);
  const leaving = isSame ? "" : `M${end} ${from.y}H${right}`;
  const d = `${leaving}M${x0} ${y0}H${Math.max(x0, x - COLUMN_GAP)}C${middle} ${y0} ${middle} ${y} ${x} ${y}`;
  return svg("path", { class: "dv-edge", d, "data-list": list, "data-index": index, "data-status": node.status });
}

function nodeGroup({ x, y, width, label, node }) {
  const group = svg("g", { class: node ? "dv-node" : "dv-context", transform: `translate(${x} ${y})` });
  const text = svg("text", { "class": "dv-label", "x": 9, "y": 4, "data-source": node?.source ?? "" }, label);
  group.append(svg("rect", { y: -11, width, height: 22, rx: 6 }), text);
  if (node) group.append(svg("text", { "class": "dv-mark", "x": width - 8, "y": 4, "text-anchor": "end" }));
  return group;
}

// lines: on how many it may stand.
function fitted(tree, { width, height, lines: most = MOST_LINES }) {
  const on = (lines) => {
    const places = placeItems(tree, (widths) => foldColumns(widths, lines), ROWS);
    return { places, scale: Math.min(LARGEST, width / places.right, height / (places.height - CAPTION)) };
  };
  const lines = bestLines(most, (count) => on(count).scale, { enough: ENOUGH, least: 0 });
  return on(lines);
}

// What a node looks like: its status, and whether its mark is seen.
function show({ group, edge }, status) {
  for (const part of [group, edge]) part.dataset.status = status;
  group.querySelector(".dv-mark").textContent = MARKS[status] ?? "";
}

const partOf = (item, group, edge) => {
  const part = { group, edge, label: group.querySelector(".dv-label"), node: item.node };
  return { ...part, show: (status) => show(part, status) };
};

// nodes: in the order of their list, hung on the text before them. `parts`: of each node its group, edge, label and
// `show`; put: draws another node where one stood, on the same edge.
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
    const edge = item.from ? edgePath(item, places.right) : null;
    drawing.append(...[edge, group].filter(Boolean));
    if (!item.node) continue;
    parts[item.index] = { ...partOf(item, group, edge), item };
  }
  const put = ({ item, edge }, node) => {
    const label = labelOf({ node });
    const other = { ...item, node, label, width: item.width + LETTER * (label.length - item.label.length) };
    const group = nodeGroup(other);
    drawing.append(group);
    return partOf(other, group, edge);
  };
  return { node: drawing, parts, put };
}
