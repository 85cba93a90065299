// The tree of one iteration: what was checked, and what was drafted meanwhile.

import { createCandidates } from "./candidates.js";
import { areDetailsOpen } from "./charts.js";
import { el, isPresented, section, setAttributes, setText, svg, tellEnds, watchSize, zoomOf } from "./dom.js";
import { onKeys } from "./keys.js";
import { CAPTION_SIGN, COLUMN_GAP, countLabel, edgeLine, MEANWHILE, placeItems, treeItems } from "./layout.js";
import { createLooks } from "./looks.js";
import { aboutOf, originOf } from "./methods.js";
import { candidatesKnown } from "./moments.js";
import { proposalsOf, treeWords } from "./sentence.js";
import { isLeaving, isMoving, isPaced } from "./player.js";
import { textBefore } from "./state.js";
import { count, fateOf, FATES, fixed, known, MARKS, percent, quote } from "./words.js";

// Of the token that is pointed at, what the tip shows beside it is also said.
function createPointing(drawing) {
  const node = el("p", { class: "dv-facts", role: "status" });
  let groups = [], at = -1;
  const point = (index) => {
    groups[at]?.classList.remove("dv-pointed");
    at = index;
    groups[at]?.classList.add("dv-pointed");
    setText(node, groups[at]?.dataset.meaning ?? "");
  };
  drawing.addEventListener("pointerover", (event) => {
    const over = groups.indexOf(event.target.closest(".dv-node"));
    if (over >= 0) point(over);
  });
  return {
    node,
    begin() {
      groups = [...drawing.querySelectorAll(".dv-node")];
      point(-1);
    },
    goTo(by) {
      const next = groups[Math.min(groups.length - 1, Math.max(0, at + by))];
      next?.scrollIntoView({ block: "nearest", inline: "nearest" });
      next?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    },
  };
}

// Nothing is to jump from iteration to iteration: the greatest height that the run has had at this width stays. On a
// narrow page the box keeps it, on a wide one, in its middle, the drawing's place, with room for most trees from the
// beginning.
const MOST_TREES = 0.7;

function createReach(box) {
  let [reached, reachedIn] = [0, ""];
  return (height, run, room) => {
    [reached, reachedIn] = [run === reachedIn ? Math.max(reached, height) : height, run];
    box.style.setProperty("--dv-reached", `${Math.ceil(reached)}px`);
    box.style.setProperty("--dv-above", `${Math.max(0, Math.floor((room - Math.max(reached, MOST_TREES * room)) / 2))}px`);
  };
}

// A tree that is wider than its box, or higher than one on a wide page, is drawn smaller, down to the least size,
// and from then on all of its run; one that is wider still goes on in further lines, or in a narrow box to the right;
// of one that is higher still, what was wrong is counted instead, where the details are folded.
const BEATS = ["guess", "check", "verdict"];
// A row's height, and where there is little room.
const [ROWS, CLOSE, HALF, KEY_SCROLL] = [26, 24, 13, 80];
// How long the text is that stands before the tree, and in a narrow box.
const [TAIL, SHORT_TAIL] = [20, 4];
// In pixels, of a box that grows with its tree.
const HIGHEST = 420;
// Of 12 pixels; a wide box has the room for larger letters, and a high one for the largest.
const [LEAST_SCALE, LESSONS_SCALE, PRESENTED_SCALE, NARROW, USUAL_WIDTH] = [1.1, 1, 0.75, 480, 1240];
const scaleIn = ({ width, height }) => (width <= 900 ? LEAST_SCALE : height < 300 ? 4 / 3 : 5 / 3);

const dataOf = ({ list, index, fate }) => ({ "data-list": list, "data-index": index, "data-status": fate });

const edgePath = (item, right) => svg("path", { class: "dv-edge", d: edgeLine(item, right), ...dataOf(item) });

const chanceWords = (share) => (share < 0.005 ? "under 1 %" : percent(share));

function nodeFacts({ node, fate }, header) {
  const { text, id, q, p, count: seen, status, source, chance } = node;
  const named = `${quote(text)} · id ${id}`;
  if (status === "window") return [named, "window: an unfinished guess, not verified"];
  const facts = [named, `${FATES[fate]} (${fate}), ${originOf(source, header)}`];
  if (known(chance)) facts.push(`chance ${fixed(chance, 2)}`);
  if (known(q)) facts.push(`draft ${chanceWords(q)}`);
  if (known(seen)) facts.push(`${count(seen, "time")} in the datastore`);
  if (known(p)) facts.push(`target ${chanceWords(p)}`);
  return facts;
}

export function nodeGroup(item, header) {
  const { node } = item;
  const data = node ? { ...dataOf(item), "data-source": node.source, "data-meaning": nodeFacts(item, header).join(" · ") } : {};
  const group = svg("g", { class: node ? "dv-node" : "dv-context", transform: `translate(${item.x} ${item.y})`, ...data });
  group.append(svg("rect", { y: -11, width: item.width, height: 22, rx: 6 }), svg("text", { class: "dv-label", x: 9, y: 4 }, item.label));
  if (!node) return group;
  if (countLabel(node)) group.append(svg("text", { class: "dv-count", x: item.width - 21, y: 4, "text-anchor": "end" }, countLabel(node).trim()));
  group.append(svg("text", { class: "dv-mark", x: item.width - 8, y: 4, "text-anchor": "end" }, MARKS[item.fate] ?? ""));
  return group;
}

// Over the first column of each kind, on each line.
function treeCaptions(iteration, { parallel, caption: proposedCaption }, places, { split, missing }) {
  const { columns, windowTop, missingTop } = places;
  const alone = parallel ? "in this check" : "the large model's own token";
  const begins = [[0, "verified text"]];
  if (iteration.checked.length) begins.push([1, (proposalsOf(iteration).length && proposedCaption) || alone]);
  if (iteration.drafted.length) begins.push([split, MEANWHILE]);
  const named = columns.map((place, column) => ({ ...place, text: begins.findLast(([from]) => from <= column)[1] }));
  const captions = named.filter(({ line, text }, at) => line !== named[at - 1]?.line || text !== named[at - 1].text)
    // Where two have not room, the second says more.
    .filter(({ left, line, text }, at, all) => {
      const next = all[at + 1];
      return next?.line !== line || left + CAPTION_SIGN * text.length <= next.left;
    })
    .map(({ left, caption, text }) => [left, caption, text]);
  if (windowTop !== null) captions.push([columns[1].left, windowTop, "window: the large model looks for new guesses here; none is verified"]);
  if (missingTop !== null) captions.push([columns[1].left, missingTop, `and ${missing} more, which Details shows`]);
  return captions;
}

// The first of these places that is at least there, and not beyond what is sought; the beginning, where that will do.
function scrollFrom(places, least, sought) {
  const possible = places.filter((place) => place <= sought).sort((one, other) => one - other);
  return least <= 0 ? 0 : possible.find((place) => place >= least) ?? possible.at(-1);
}

// To the target's own token, or else to the last that it accepted, where it is not in sight from the beginning, and no
// further, for its path lies before it and above; to where a column and a row begin, so that no token and no heading is
// cut.
function scrollToResult(box, { items }, { places: { columns }, captions, scale }) {
  const find = (status) => items.findLast((item) => item.node?.status === status);
  const { x, y, width } = find("correction") ?? find("accepted") ?? items[0];
  const cuts = (left) => captions.some(([from, , text]) => from < left && left < from + CAPTION_SIGN * text.length);
  const lefts = columns.map(({ left }) => left).filter((left) => !cuts(left));
  const tops = items.map((item) => item.y - HALF);
  box.scrollLeft = scale * (scrollFrom(lefts, x + width - box.clientWidth / scale, x) - 2);
  const top = scale * scrollFrom(tops, y + HALF - box.clientHeight / scale, y);
  // Also a tree that is hardly too high can be scrolled until no heading is cut.
  const drawing = box.firstElementChild;
  drawing.style.marginBottom = "";
  drawing.style.marginBottom = `${Math.max(0, top + box.clientHeight - box.scrollHeight)}px`;
  box.scrollTop = top;
}

const roomAt = (tree, scale, { width }) => (
  tree.windowRow === null && width > NARROW ? width / scale - COLUMN_GAP / 2 : Infinity);
const placeIn = (tree, room, { width }, rowHeight) => placeItems(tree, room, rowHeight, { isNarrow: width <= NARROW });
const placeAt = (tree, scale, box, rowHeight) => placeIn(tree, roomAt(tree, scale, box), box, rowHeight);

// most, least: the scales between which it is fitted into the box; isWhole: also into its height; isGiven: whether
// the box has a height of its own, for which a tree that is higher is drawn in the least scale, and closer.
// What would be folded below many rows, out of sight, or in a narrow box into many lines, goes on to the right.
function fitTree(tree, iteration, header, { box, isGiven, most, least, isWhole }) {
  const fit = isWhole ? most : Math.min(most, box.width / (placeIn(tree, Infinity, box, ROWS).right + COLUMN_GAP));
  let scale = Math.max(Math.min(least, most), fit);
  const isHigh = (rowHeight) => scale * placeAt(tree, scale, box, rowHeight).height > box.height;
  while (isWhole && scale > least && isHigh(ROWS)) scale *= 0.98;
  if (!isWhole && isGiven && isHigh(ROWS)) scale = Math.min(scale, least);
  const rowHeight = isGiven && isHigh(ROWS) ? CLOSE : ROWS;
  const isBeyond = isGiven ? isHigh(CLOSE) : scale * (tree.rows + 1) * ROWS > box.height;
  const room = isBeyond ? Infinity : roomAt(tree, scale, box);
  const places = placeIn(tree, room, box, rowHeight);
  const captions = treeCaptions(iteration, aboutOf(header), places, tree);
  const ends = captions.map(([left, , text]) => left + CAPTION_SIGN * text.length);
  const width = Math.max(places.right, box.width / scale, ...(room === Infinity ? ends : []));
  return { places, captions, width, scale };
}

function drawNodes(drawing, { items }, iteration, { captions, places, width, scale }, header) {
  setAttributes(drawing, {
    viewBox: `0 0 ${width} ${places.height}`, width: (scale * width).toFixed(1), height: (scale * places.height).toFixed(1),
    "aria-label": treeWords(iteration, header),
  });
  const edges = items.filter((item) => item.from).map((item) => edgePath(item, width));
  drawing.style.setProperty("--scale", scale);
  const words = captions.map(([x, y, text]) => svg("text", { class: "dv-caption", x, y }, text));
  drawing.replaceChildren(...words, ...edges, ...items.map((item) => nodeGroup(item, header)));
}

function createForest({ state, redraw }) {
  const drawing = svg("svg", { class: "dv-tree-drawing", role: "img" });
  const pointing = createPointing(drawing);
  const label = "Tree of proposed tokens: W and S step through the tokens, A and D scroll sideways, the arrows up and down";
  const box = el("div", { class: "dv-tree-box", tabindex: "0", role: "group", "aria-label": label }, drawing);
  const goTo = (by) => () => pointing.goTo(by);
  const scrollBy = (by) => () => { box.scrollLeft += by; };
  onKeys(box, { w: goTo(-1), s: goTo(1), a: scrollBy(-KEY_SCROLL), d: scrollBy(KEY_SCROLL) });
  const [looks, reach] = [createLooks(drawing), createReach(box)];
  let drawn = null, drawnIn = "", size = { width: 0, height: 0 }, scroll = null, start = null, way = null, hasLeft = false;
  let [least, leastIn] = [Infinity, ""];
  watchSize(box, (width, height) => { size = { width, height }; redraw(); });
  const tellMore = () => {
    box.toggleAttribute("data-more", box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
    tellEnds(box);
  };
  box.addEventListener("scroll", tellMore);
  // Beside a lesson's text and presented, the tree is to be seen whole, and in a lesson nothing of it is left out.
  const isInLesson = () => box.closest(".dl") !== null;
  const isWholeHere = () => isPresented() || (innerWidth > 900 && isInLesson());
  const drawTree = (iteration) => {
    if (leastIn !== drawnIn) [least, leastIn] = [scaleIn(size), drawnIn];
    const [isWhole, isGiven] = [isWholeHere(), innerWidth > 900];
    // Presented, it grows with what is around it.
    const zoom = isPresented() ? 1 : zoomOf(box);
    const usual = LEAST_SCALE * Math.max(1 / zoom, size.width / USUAL_WIDTH);
    const readable = isPresented() ? PRESENTED_SCALE : isWhole ? LESSONS_SCALE / zoom : usual;
    const [before, longest] = [textBefore(state, state.shown), size.width < NARROW ? SHORT_TAIL : TAIL];
    // Where not all of it has room, what is neither checked nor lives on is left out, then rows of wrong guesses.
    const [height, rowHeight] = isGiven ? [size.height, CLOSE] : [HIGHEST, ROWS];
    const most = areDetailsOpen() ? 0 : Math.floor(height / readable / rowHeight);
    const fewer = Array.from({ length: most }, (_, less) => ({ rest: 0, rows: most - less }));
    const itemsWith = (limits) => treeItems(iteration, before, { longest, ...limits });
    const hasRoom = (limits) => (
      isWhole || isInLesson() || readable * placeAt(itemsWith(limits), readable, size, rowHeight).height <= height);
    const tree = itemsWith([{}, { rest: 0 }, ...fewer].find(hasRoom) ?? fewer.at(-1) ?? { rest: 0 });
    for (const item of tree.items.filter(({ node }) => node)) {
      item.fate = fateOf(item.list, item.node, iteration[item.list], state.header);
    }
    const limits = { box: size, isGiven, most: least, least: readable, isWhole };
    const fitted = fitTree(tree, iteration, state.header, limits);
    least = fitted.scale;
    drawNodes(drawing, tree, iteration, fitted, state.header);
    reach(fitted.scale * fitted.places.height, `${state.epoch} ${size.width}`, size.height);
    pointing.begin();
    looks.begin(tree.items, iteration, state.header, !isMoving(state) || isPaced(state));
    [start, hasLeft, way] = [tree.items[0], false, { right: fitted.width, lineHeight: fitted.places.lineHeight }];
    scroll = () => scrollToResult(box, tree, fitted);
  };
  return {
    drawing, box, nodes: [box, pointing.node],
    nodeOf: ({ list, index }) => drawing.querySelector(`g.dv-node[data-list="${list}"][data-index="${index}"] .dv-label`),
    draw() {
      const iteration = state.iterations[state.shown];
      const key = `${size.width} ${innerWidth > 900 ? size.height : scaleIn(size)} ${state.epoch} ${areDetailsOpen()}`;
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
      tellMore();
    },
  };
}

export function createTree(context) {
  const { state } = context;
  const forest = createForest(context);
  const candidates = createCandidates();
  const body = el("div", { class: "dv-tree-body" }, el("div", { class: "dv-tree-side" }, ...forest.nodes), candidates.node);
  let [drawn, told] = [null, null];
  const beats = BEATS.map((beat) => el("span", { "data-beat": beat }, beat));
  const node = section("tree", "Tree", body);
  node.querySelector("h3").append(el("span", { "class": "dv-beats", "aria-hidden": "true" }, ...beats));
  return {
    node,
    drawing: forest.drawing,
    nodeOf: forest.nodeOf,
    highlight: (position, on) => forest.box.classList.toggle("dv-lit", on && position === state.shown),
    draw() {
      const iteration = state.iterations[state.shown];
      const now = !iteration || state.moment === null ? 2 : candidatesKnown(iteration, state.moment);
      if (iteration !== drawn || told !== now) candidates.draw(iteration, state.header, now);
      [drawn, told] = [iteration, now];
      forest.draw();
    },
    settle: forest.settle,
  };
}
