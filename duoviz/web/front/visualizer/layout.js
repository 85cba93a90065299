// Where the tree's nodes stand: in columns, which go on in further lines.

import { known, tokenLabel, visible } from "./words.js";

// Between columns; and where else a few would go on in a further line.
export const [COLUMN_GAP, NARROW_GAP] = [26, 13];

const [FIRST_LEFT, NEXT_LEFT] = [2, COLUMN_GAP + 2];

// For each column its line and its left edge, with as many on a line as this width allows; needs: with the room of
// a heading.
export function fillLines(widths, most, needs = widths, gap = COLUMN_GAP) {
  let [line, left] = [0, FIRST_LEFT];
  return widths.map((width, column) => {
    if (left > NEXT_LEFT && left + needs[column] > most) [line, left] = [line + 1, NEXT_LEFT];
    const place = { line, left };
    left += width + gap;
    return place;
  });
}

const TREE_TOP = 24;
const CAPTION_HEIGHT = 20;
const LINE_GAP = 10;
export const [MEANWHILE, CAPTION_SIGN] = ["guessed meanwhile", 9];

// Pixels at the tree's 13 px monospace; from U+3000 on (and emoji) characters are twice as wide.
const charWidth = (char) => (char.codePointAt(0) >= 0x3000 ? 14 : 7.85);
const textWidth = (text) => Array.from(text).reduce((sum, char) => sum + charWidth(char), 0);

// Depth and row of each drawn node: a first child stays on its parent's row, each further one opens a row below.
function layOut(nodes, drawn) {
  const children = new Map();
  for (const index of drawn) children.set(nodes[index].parent, [...(children.get(nodes[index].parent) ?? []), index]);
  const places = [];
  let rows = 0;
  const visit = (index, depth, row) => {
    places[index] = { depth, row };
    (children.get(index) ?? []).forEach((child, order) => visit(child, depth + 1, order ? rows++ : row));
  };
  (children.get(-1) ?? []).forEach((root) => visit(root, 0, rows++));
  return { places, rows, depth: Math.max(-1, ...places.filter(Boolean).map((place) => place.depth)) };
}

// Lookahead's window, below the guesses: a row for each of its levels, a column for each place in the text. A level's
// nodes stand one place after another, so a new level begins where that is not so.
function layOutWindow(nodes, drawn, firstRow) {
  const places = [];
  let [level, last] = [firstRow, -1];
  for (const index of drawn) {
    const depth = 1 + (places[nodes[index].parent]?.depth ?? -1);
    if (depth !== last + 1) level += 1;
    places[index] = { depth, row: level };
    last = depth;
  }
  return { places, rows: drawn.length ? level + 1 : firstRow };
}

const isWindow = (node) => node.status === "window";
const isWrong = ({ status }) => status === "rejected" || status === "discarded";

const indicesOf = (nodes, wanted) => [...nodes.keys()].filter((index) => wanted(nodes[index]));

function lastWords(text, longest) {
  const end = Array.from(visible(text)).slice(-longest).join("");
  const short = end.length < visible(text).length ? end.replace(/^\S{0,12}\s(?=\S)/, "") : end;
  return short === visible(text) ? short || "start" : `…${short}`;
}

// Of a living tree's tokens that were not checked, those that live on and the likeliest others are drawn.
const DRAWN_REST = 8;

function drawnRest({ checked, rest = [] }, most) {
  let others = 0;
  const lives = new Set();
  rest.forEach((node, order) => {
    const hangs = node.parent < checked.length || lives.has(node.parent);
    if (hangs && (node.status === "pending" || others < most)) lives.add(checked.length + order);
    if (node.status !== "pending") others += 1;
  });
  return lives;
}

// Which of these nodes are drawn where there is room for so many rows: little after a wrong guess, and of the rows that
// hold only wrong guesses, the first ones. A node's descendants are never above it, so a row goes before its parents'.
const AFTER_WRONG = 2;

function onRows(nodes, all, most) {
  if (most === Infinity) return all;
  const isRight = (at) => !isWrong(nodes[at]);
  const { places: before } = layOut(nodes, all);
  const deepest = AFTER_WRONG + Math.max(-1, ...all.filter(isRight).map((at) => before[at].depth));
  const near = all.filter((at) => before[at].depth <= deepest);
  const { places, rows } = layOut(nodes, near);
  const [kept, gone] = [new Set(near.filter(isRight).map((at) => places[at].row)), new Set()];
  for (let row = rows - 1; row > 0 && rows - gone.size > most; row--) if (!kept.has(row)) gone.add(row);
  return near.filter((at) => !gone.has(places[at].row));
}

// The nodes that are drawn as items, the first of them in this column, each hung on its parent's, or on where the tree
// starts; a window's on none. nameOf: gives the {list, index} of each.
function itemsOf(nodes, drawn, places, { start, column, nameOf }) {
  const own = [];
  for (const index of drawn) {
    const [node, { row, depth }] = [nodes[index], places[index]];
    const from = isWindow(node) ? undefined : own[node.parent] ?? start;
    own[index] = { ...nameOf(index), node, row, column: column + depth, label: tokenLabel(node.text), from };
  }
  return own.filter(Boolean);
}

function checkedItems(iteration, start, most) {
  const { checked } = iteration;
  const nodes = checked.concat(iteration.rest ?? []);
  const shown = drawnRest(iteration, most.rest);
  const isDrawn = (index) => index < checked.length || shown.has(index);
  const all = indicesOf(nodes, (node) => !isWindow(node)).filter(isDrawn);
  const drawn = onRows(nodes, all, most.rows);
  const looking = indicesOf(nodes, isWindow);
  const layout = layOut(nodes, drawn);
  const first = Math.max(1, layout.rows);
  const below = layOutWindow(nodes, looking, first);
  const nameOf = (index) => (
    index < checked.length ? { list: "checked", index } : { list: "rest", index: index - checked.length });
  const lowest = Math.max(most.rows, first + 2);
  const seen = looking.filter((at) => below.places[at].row < lowest);
  const [items, window] = [[drawn, layout], [seen, below]].map(([indices, { places }]) => (
    itemsOf(nodes, indices, places, { start, column: 1, nameOf })));
  const missing = all.length - drawn.length + looking.length - seen.length;
  return { items, window, rows: Math.min(lowest, below.rows), depth: layout.depth, missing };
}

function draftedItems(nodes, start, column, { taken, most }) {
  const drawn = onRows(nodes, [...nodes.keys()], most);
  const { places, rows } = layOut(nodes, drawn);
  const starts = indicesOf(nodes, ({ parent, status }) => parent < 0 && status !== "correction");
  const startOf = (index) => (nodes[index].parent < 0 ? index : startOf(nodes[index].parent));
  const nameOf = (index) => ({ list: "drafted", index, taken: startOf(index) === starts[taken - 1] });
  const items = itemsOf(nodes, drawn, places, { start, column, nameOf });
  return { items, rows, missing: nodes.length - drawn.length };
}

export const countLabel = (node) => (known(node?.count) ? ` ×${node.count}` : "");

// longest: of the text before it that many characters; rest: of what was not checked and does not live on, so many;
// rows: more only where not all that is on them is wrong. `missing`: how many nodes are not drawn for that.
export function treeItems(iteration, tail, { longest = 20, rest = DRAWN_REST, rows = Infinity } = {}) {
  const start = { list: "text", label: lastWords(tail, longest), column: 0, row: 0 };
  const checked = checkedItems(iteration, start, { rest, rows });
  const split = 2 + checked.depth;
  const anchor = checked.items.findLast((item) => item.row === 0) ?? start;
  const drafted = draftedItems(iteration.drafted, anchor, split, { taken: iteration.verdict.sequence, most: rows });
  return {
    items: [start, ...checked.items, ...checked.window, ...drafted.items],
    split, windowRow: checked.window[0]?.row ?? null, rows: Math.max(1, checked.rows, drafted.rows),
    missing: checked.missing + drafted.missing,
  };
}

// The path of an item's edge: to the next line it leaves at the right, and comes in at the left.
export function edgeLine({ from, x, y, line, entry }, right) {
  const [end, isSame] = [from.x + from.width, from.line === line];
  const [x0, y0] = isSame ? [end, from.y] : [0, entry];
  const middle = Math.max(x0, x - COLUMN_GAP / 2);
  const leaving = isSame ? "" : `M${end} ${from.y}H${right}`;
  return `${leaving}M${x0} ${y0}H${Math.max(x0, x - COLUMN_GAP)}C${middle} ${y0} ${middle} ${y} ${x} ${y}`;
}

function rowsOn(items, columns) {
  const lines = Array.from({ length: columns.at(-1).line + 1 }, () => new Set());
  for (const { column, row } of items) lines[columns[column].line].add(row);
  return lines.map((rows) => [...rows].sort((one, other) => one - other));
}

// How wide an item is drawn: what is no token has no mark.
export const widthOf = ({ label, node }) => textWidth(label + countLabel(node)) + (node ? 30 : 18);

// Gives each item its place in pixels, on lines of this width and with rows of this height. Returns for each column its
// line, its left edge and the height of its caption, and how wide and high all is. isHeaded: each line has captions;
// isNarrow: columns stand closer.
export function placeItems(tree, most, rowHeight, { isHeaded = true, isNarrow = false } = {}) {
  const { items, windowRow, split, missing = 0 } = tree;
  const widths = [];
  for (const item of items) {
    item.width = widthOf(item);
    widths[item.column] = Math.max(widths[item.column] ?? 0, item.width);
  }
  const all = Array.from(widths, (width) => width ?? 0);
  const [gap, heading] = isHeaded ? [TREE_TOP, CAPTION_SIGN * MEANWHILE.length] : [LINE_GAP, 0];
  const needs = all.map((width, column) => (column === split ? Math.max(width, heading) : width));
  const [wide, narrow] = [COLUMN_GAP, NARROW_GAP].map((between) => fillLines(all, most, needs, between));
  const columns = isNarrow || (wide.at(-1).line && !narrow.at(-1).line) ? narrow : wide;
  const used = rowsOn(items, columns);
  let bottom = 0;
  const tops = used.map((rows, line) => {
    const top = bottom + (line ? gap : TREE_TOP);
    bottom = top + rowHeight * rows.length;
    return top;
  });
  const below = (row) => (windowRow !== null && row >= windowRow ? CAPTION_HEIGHT : 0);
  const middleOf = (line, row) => tops[line] + rowHeight * (used[line].indexOf(row) + 0.5) + below(row);
  for (const item of items) {
    const { left, line } = columns[item.column];
    Object.assign(item, { x: left, y: middleOf(line, item.row), line });
    item.entry = item.from && used[line].includes(item.from.row) ? middleOf(line, item.from.row) : item.y;
  }
  const isLast = (line) => line === used.length - 1;
  const right = Math.max(...items.map(({ x, width, line }) => x + width + (isLast(line) ? 2 : COLUMN_GAP / 2)));
  return {
    columns: columns.map(({ left, line }) => ({ left, line, caption: tops[line] - 8 })),
    lineHeight: gap + rowHeight,
    windowTop: windowRow === null ? null : tops[0] + rowHeight * windowRow + CAPTION_HEIGHT - 4,
    missingTop: missing ? bottom + below(windowRow) + CAPTION_HEIGHT - 4 : null,
    right, height: bottom + below(windowRow) + (missing ? CAPTION_HEIGHT : 0) + 4,
  };
}
