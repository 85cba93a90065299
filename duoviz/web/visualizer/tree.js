// The tree of one iteration: what was checked, and what was drafted meanwhile.

import { el, section, setAttributes, setText, svg, watchSize } from "./dom.js";
import { count, fixed, known, MARKS, quote } from "./words.js";
import { aboutOf, originOf } from "./methods.js";
import { bestLines, COLUMN_GAP } from "./fold.js";
import { countLabel, placeItems, treeItems } from "./layout.js";
import { createPointing } from "./pointing.js";
import { createReach } from "./reach.js";
import { createCandidates } from "./candidates.js";
import { candidatesKnown, lookAt, timesOf } from "./moments.js";
import { isLeaving, isMoving, isPaced, wantsNoMotion } from "./player.js";

// The drawing fills its box, within what can be read (on the screen: where the page is zoomed, the drawing may be smaller)
// and what looks calm. Where it would be too small for that, it goes on in further lines.
const [SMALLEST, ENOUGH, LARGEST] = [0.75, 0.9, 1.8];
const [MOST_LINES, CLOSE_ROWS, ROWS, CAPTION_SIGN] = [12, 26, 32, 6.4];
// On a narrow page the box is as high as the drawing, up to this.
const isNarrow = matchMedia("(max-width: 900px)");
const [NARROW_HEIGHT, LARGEST_NARROW] = [420, 1.2];
const KEY_SCROLL = 80;

// How likely a node was thought to be after its parent: its chance, the draft's q, or its share of what the datastore
// counted there.
function likelihood(node, nodes) {
  if (known(node.chance)) return node.chance;
  if (known(node.q)) return node.q;
  if (!known(node.count)) return null;
  const siblings = nodes.filter((other) => other.parent === node.parent && known(other.count));
  return node.count / (nodes[node.parent]?.count ?? siblings.reduce((sum, other) => sum + other.count, 0));
}

// To the next line it leaves at the right, and comes in at the left.
function edgePath(item, nodes, right) {
  const [end, x1] = [item.from.x + item.from.width, item.x];
  const isSame = item.from.line === item.line;
  const [x0, y0] = isSame ? [end, item.from.y] : [0, item.entry];
  const middle = Math.max(x0, x1 - COLUMN_GAP / 2);
  const d = `${isSame ? "" : `M${end} ${item.from.y}H${right}`}M${x0} ${y0}H${Math.max(x0, x1 - COLUMN_GAP)}C${middle} ${y0} ${middle} ${item.y} ${x1} ${item.y}`;
  const edge = svg("path", { class: `dv-edge${item.taken ? " dv-taken" : ""}`, d, "data-list": item.list, "data-index": item.index, "data-status": item.node.status });
  const share = likelihood(item.node, nodes);
  edge.style.strokeWidth = `${share === null ? 1.25 : 1 + 6 * share}px`;
  return edge;
}

function nodeFacts({ text, id, q, p, count: seen, status, source, chance }, header) {
  const named = `${quote(text)} · id ${id}`;
  if (status === "window") return [named, "window: a guess in the making, not verified"];
  const facts = [named, `${status}, ${originOf(source, header)}`];
  if (known(chance)) facts.push(`chance ${fixed(chance, 2)}`);
  if (known(q)) facts.push(`q (draft) ${fixed(q, 3)}`);
  if (known(seen)) facts.push(`stood there ${count(seen, "time")} in the datastore`);
  facts.push(known(p) ? `p (target) ${fixed(p, 3)}` : "not tested by the target");
  return facts;
}

function nodeGroup(item, header) {
  const { node } = item;
  const data = node ? { "data-list": item.list, "data-index": item.index, "data-status": node.status, "data-source": node.source } : {};
  const group = svg("g", { class: `${node ? "dv-node" : "dv-context"}${item.taken ? " dv-taken" : ""}`, transform: `translate(${item.x} ${item.y})`, ...data });
  group.append(svg("rect", { y: -11, width: item.width, height: 22, rx: 6 }), svg("text", { class: "dv-label", x: 9, y: 4 }, item.label));
  if (!node) return group;
  if (countLabel(node)) group.append(svg("text", { class: "dv-count", x: item.width - 21, y: 4, "text-anchor": "end" }, countLabel(node).trim()));
  group.append(svg("text", { class: "dv-mark", x: item.width - 8, y: 4, "text-anchor": "end" }, MARKS[node.status] ?? ""), svg("title", {}, nodeFacts(node, header).join("\n")));
  return group;
}

// Each: where it stands, and its text.
function treeCaptions(iteration, { parallel, caption: proposedCaption }, { columns, windowTop }, split) {
  const over = (column, text) => [columns[column].left, columns[column].caption, text];
  const captions = [over(0, "verified text")];
  const proposed = iteration.checked.some((node) => node.status !== "correction" && node.status !== "window");
  const alone = parallel ? "checked" : "the target's own token";
  if (iteration.checked.length) captions.push(over(1, (proposed && proposedCaption) || alone));
  if (iteration.drafted.length) captions.push(over(split, "drafted meanwhile"));
  if (windowTop !== null) captions.push([columns[1].left, windowTop, "window: the target looks for new guesses here; nothing of it is verified"]);
  return captions;
}

// Of a living tree, what was there an iteration before comes from where it stood then, so that the eye can follow it.
const MOVE = { duration: 350, easing: "ease-out" };

function createMoves(drawing) {
  let before = { index: NaN, checked: 0, places: new Map() };
  const placeOf = ({ was }) => before.places.get(was < before.checked ? `checked ${was}` : `rest ${was - before.checked}`);
  return (items, iteration, isShown) => {
    const follows = iteration.index === before.index + 1 && isShown && !wantsNoMotion.matches;
    for (const item of follows ? items : []) {
      const from = known(item.node?.was) && placeOf(item.node);
      const group = from && drawing.querySelector(`g.dv-node[data-list="${item.list}"][data-index="${item.index}"]`);
      const [there, here] = [from, item].map((place) => ({ transform: `translate(${place?.x}px, ${place?.y}px)` }));
      group?.animate?.([there, here], MOVE);
    }
    const places = new Map(items.filter((item) => item.node).map((item) => [`${item.list} ${item.index}`, { x: item.x, y: item.y }]));
    before = { index: iteration.index, checked: iteration.checked.length, places };
  };
}

// The drawn nodes, each with its edge and its times: what they look like at a moment.
function createLooks(drawing) {
  let drawn = [];
  const show = (entry, look, isJudged) => {
    if (entry.look === look && entry.isJudged === isJudged) return;
    Object.assign(entry, { look, isJudged });
    for (const part of [entry.group, entry.edge].filter(Boolean)) {
      part.dataset.status = look === "unborn" ? "pending" : look;
      part.classList.toggle("dv-unborn", look === "unborn");
      part.classList.toggle("dv-taken", entry.taken && isJudged);
    }
    entry.group.querySelector(".dv-mark").textContent = MARKS[look] ?? "";
  };
  // The branch that was taken goes to where the next iteration has it, and all else goes away.
  const leave = (entry, next, { right, lineHeight }) => {
    if (entry.list === "rest" && entry.status === "pending") return;
    const isKept = entry.taken && entry.status === "pending";
    for (const part of [entry.group, entry.edge].filter(Boolean)) part.classList.toggle("dv-leaving", !isKept || part === entry.edge);
    if (!isKept) return;
    if (next.x + entry.width > right) Object.assign(next, { x: COLUMN_GAP, y: next.y + lineHeight });
    entry.group.style.transform = `translate(${next.x}px, ${next.y}px)`;
    next.x += entry.width + COLUMN_GAP;
  };
  return {
    begin(items, iteration, header) {
      const times = Object.fromEntries(["checked", "rest", "drafted"].map((list) => [list, timesOf(iteration, list, header)]));
      drawn = items.filter((item) => item.node).map(({ list, index, node, taken, width }) => {
        const [group, edge] = ["g.dv-node", "path.dv-edge"].map((part) => drawing.querySelector(`${part}[data-list="${list}"][data-index="${index}"]`));
        return { group, edge, list, taken, width, status: node.status, times: times[list][index], look: node.status, isJudged: true };
      });
    },
    at(clock) {
      for (const entry of drawn) {
        const isJudged = clock === null || clock >= entry.times.judged;
        show(entry, isJudged ? entry.status : lookAt(entry.times, entry.status, clock), isJudged);
      }
    },
    leave(start, way) {
      const next = { x: start.x + start.width + COLUMN_GAP, y: start.y };
      for (const entry of drawn) leave(entry, next, way);
    },
  };
}

// Where the eye should land: what was drafted, or else the end of what the target wrote. What is in sight from the left
// end is not scrolled to: the verified text, where the eye begins, would be cut.
function scrollToResult(box, { items, split }, iteration, { places, scale }) {
  const own = items.find((item) => item.node?.status === "correction");
  const [x, y] = (iteration.drafted.length || !own ? [places.columns[split]?.left ?? 0, 0] : [own.x, own.y]).map((each) => scale * each);
  box.scrollLeft = x > 0.7 * box.clientWidth ? x - 0.5 * box.clientWidth : 0;
  box.scrollTop = Math.max(0, y - 0.6 * box.clientHeight);
}

function createBox(drawing, goTo) {
  const label = "Tree of proposed tokens: W and S go through the tokens, A and D scroll sideways, the arrows up and down";
  const box = el("div", { class: "dv-tree-box", tabindex: "0", role: "group", "aria-label": label }, drawing);
  const scroll = (by) => { box.scrollLeft += by; };
  const acts = { w: () => goTo(-1), s: () => goTo(1), a: () => scroll(-KEY_SCROLL), d: () => scroll(KEY_SCROLL) };
  box.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) acts[event.key.toLowerCase()]?.();
  });
  return box;
}

export function createTree({ state, redraw }) {
  const drawing = svg("svg", { class: "dv-tree-drawing", role: "img" });
  const pointing = createPointing(drawing);
  const box = createBox(drawing, (by) => pointing.goTo(by)?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  const note = el("p", { class: "dv-note" });
  const candidates = createCandidates();
  const body = el("div", { class: "dv-tree-body" }, el("div", { class: "dv-tree-side" }, box, pointing.node, note), candidates.node);
  const looks = createLooks(drawing);
  const move = createMoves(drawing);
  const reach = createReach(box);
  let drawn = null, drawnIn = "", size = [0, 0], scroll = null, start = null, way = null, told = null, hasLeft = false;
  watchSize(box, (...now) => {
    size = now;
    redraw();
  });
  const fit = (tree, iteration) => {
    const least = SMALLEST / (box.currentCSSZoom ?? 1);
    const [height, largest] = isNarrow.matches ? [NARROW_HEIGHT, LARGEST_NARROW] : [size[1], LARGEST];
    const on = (lines, rowHeight) => {
      const places = placeItems(tree, lines, rowHeight);
      const captions = treeCaptions(iteration, aboutOf(state.header), places, tree.split);
      const width = Math.max(places.right, ...captions.map(([x, , text]) => x + CAPTION_SIGN * text.length));
      return { places, captions, width, scale: Math.min(size[0] / width, height / places.height) };
    };
    // A window's levels stand one below the other, and so on one line.
    const most = tree.windowRow === null ? MOST_LINES : 1;
    const lines = bestLines(most, (lines) => on(lines, CLOSE_ROWS).scale, { enough: ENOUGH, least });
    const isRoomy = on(lines, ROWS).scale >= Math.min(largest, on(lines, CLOSE_ROWS).scale);
    const { scale, ...found } = on(lines, isRoomy ? ROWS : CLOSE_ROWS);
    return { ...found, scale: Math.min(largest, Math.max(least, scale)) };
  };
  const drawTree = (iteration) => {
    const tree = treeItems(iteration, state.tails[state.shown]);
    const fitted = fit(tree, iteration);
    const { captions, places, scale, width } = fitted;
    setAttributes(drawing, {
      viewBox: `0 0 ${width} ${places.height}`, width: (scale * width).toFixed(1), height: (scale * places.height).toFixed(1),
      "aria-label": `Tree of iteration ${state.shown}`,
    });
    reach(scale * places.height, `${state.epoch} ${size[0]}`);
    const edges = tree.items.filter((item) => item.from).map((item) => edgePath(item, iteration[item.list], width));
    const words = captions.map(([x, y, text]) => svg("text", { class: "dv-caption", x, y }, text));
    drawing.replaceChildren(...words, ...edges, ...tree.items.map((item) => nodeGroup(item, state.header)));
    pointing.begin();
    looks.begin(tree.items, iteration, state.header);
    move(tree.items, iteration, !isMoving(state) || isPaced(state));
    [start, hasLeft, way] = [tree.items[0], false, { right: width, lineHeight: places.lineHeight }];
    scroll = () => scrollToResult(box, tree, iteration, fitted);
    const drawnTokens = tree.items.filter(({ list }) => list === "checked" || list === "drafted").length;
    const missing = iteration.checked.length + iteration.drafted.length - drawnTokens;
    setText(note, missing ? `${count(missing, "more token")} ${missing === 1 ? "is" : "are"} not drawn.` : "");
  };
  return {
    node: section("tree", "Tree", body),
    drawing,
    highlight: (position, on) => box.classList.toggle("dv-lit", on && position === state.shown),
    draw() {
      const iteration = state.iterations[state.shown];
      const key = `${size} ${state.epoch}`;
      const known = !iteration || state.moment === null ? 2 : candidatesKnown(iteration, state.moment);
      if (iteration !== drawn || told !== known) candidates.draw(iteration, state.header, (told = known));
      // Where the branch taken has moved, all is drawn anew for whoever comes back.
      if (iteration !== drawn || drawnIn !== key || (hasLeft && !isLeaving(state))) {
        [drawn, drawnIn] = [iteration, key];
        if (iteration) drawTree(iteration);
        else drawing.replaceChildren();
      }
      if (!iteration) return;
      looks.at(state.moment);
      if (!isLeaving(state) || hasLeft) return;
      hasLeft = true;
      looks.leave(start, way);
    },
    settle() {
      scroll?.();
      scroll = null;
    },
  };
}
