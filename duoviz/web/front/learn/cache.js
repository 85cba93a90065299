// The figure "cache": of which tokens the target's cache holds keys and values before a forward pass, after it, and
// after the verdict.

import { el, setAttributes, svg, watchSize } from "../visualizer/dom.js";
import { COLUMN_GAP, fillLines, widthOf } from "../visualizer/layout.js";
import { nodeGroup } from "../visualizer/tree.js";
import { count, countGuesses, tokenLabel } from "../visualizer/words.js";

const [LINE, SCALE] = [28, 1.5];

// What the cache holds, as [part, words, what is drawn of it]; without a part that is empty.
export function partsOf({ cached, last, checked, own }) {
  const [kept, dropped] = [true, false].map((stays) => checked.filter(({ status }) => (status === "accepted") === stays));
  const [old, end] = [{ label: count(cached, "token") }, { label: tokenLabel(last) }];
  const nodes = (all, more) => all.map((node) => ({ label: tokenLabel(node.text), node: { ...node, ...more } }));
  const guesses = checked.length ? ` and ${countGuesses(checked.length)}` : "";
  const all = [old, end, ...nodes(checked, { status: "pending" })];
  return [
    ["before", `Before the pass: ${count(cached, "token")}`, [old]],
    ["read", `The pass reads the last token of the text${guesses}: ${cached + 1 + checked.length}`, all],
    ["kept", `After the verdict: ${cached + 1 + kept.length} stay`, [old, end, ...nodes(kept)]],
    ["dropped", `Rolled back: ${dropped.length}`, nodes(dropped)],
    ["own", "Not in the cache yet: the next pass reads it", nodes([own])],
  ].filter(([, , items]) => items.length);
}

function draw(drawing, items, width) {
  const places = fillLines(items.map(widthOf), width / SCALE);
  const height = LINE * (places.at(-1).line + 1);
  setAttributes(drawing, { viewBox: `0 0 ${width / SCALE} ${height}`, width, height: SCALE * height });
  drawing.replaceChildren(...items.map((item, at) => {
    const [x, y] = [places[at].left, LINE * (places[at].line + 0.5)];
    return nodeGroup({ ...item, fate: item.node?.status, width: widthOf(item), x, y });
  }));
}

export function cacheFigure(figure) {
  const parts = partsOf(figure).map(([part, words, items]) => {
    const drawing = svg("svg", { class: "dv-tree-drawing", "aria-hidden": "true" });
    return { items, drawing, node: el("div", { "data-part": part }, el("p", {}, words), drawing) };
  });
  const node = el("div", { class: "dl-cache" }, ...parts.map((part) => part.node));
  watchSize(node, (width) => {
    if (width) for (const { items, drawing } of parts) draw(drawing, items, width - COLUMN_GAP);
  });
  return { node };
}
