// What is seen and what moves at each stop: an act lays out its figure and writes its script.

import { createCandidates } from "../visualizer/candidates.js";
import { el, setText } from "../visualizer/dom.js";
import { colorOf } from "../visualizer/methods.js";
import { timesOf } from "../visualizer/moments.js";
import { MOVE_SECONDS } from "../visualizer/motion.js";
import { patternKeys } from "../visualizer/timeline.js";
import { capital, count, countGuesses, measuredWords } from "../visualizer/words.js";
import { bring, createKey, createLanes, createText, createTree, forwardOf, hide, reveal } from "./figure.js";
import { draftedOf, NUMBERS, proposedOf } from "./stops.js";

const [READING, SEEN, EACH] = [1.2, 0.5, 0.12];
const [LARGE, SMALL] = ["Large model (target)", "Small model (draft)"];

// A token goes from what `from` gives to its place. leave, come: called when it sets out, and when it is there.
function send(script, motion, { from, to, leave = () => {}, come = () => {} }) {
  let flying = null;
  script.act(() => {
    flying = motion.fly(from(), to);
    leave();
  }, MOVE_SECONDS);
  script.act(() => {
    flying?.remove();
    reveal(to);
    come();
  });
}

const sendNode = (script, motion, { label, group }, to, come) => send(script, motion, {
  from: () => label, to, leave: () => group.classList.add("dv-story-left"), come,
});

function endOf({ rect }) {
  const { left, top, width, height } = rect.getBoundingClientRect();
  return { left: left + width - height, top, width: height, height };
}

function fill(motion, { rect }, seconds) {
  reveal(rect);
  motion.fill(rect, seconds);
}

// Each bar fills in its time after the moment `start`; returns how long that takes.
function fillInTime(script, motion, { bars, start }, slower) {
  for (const bar of bars) {
    const seconds = slower * (bar.end - bar.start);
    script.later(slower * Math.max(0, bar.start - start), () => fill(motion, bar, seconds));
  }
  return slower * Math.max(0, ...bars.map(({ end }) => end - start));
}

function lanesOf(trace, { from, to }, names, width) {
  const [start, end] = [trace.iterations[from - 1]?.sync ?? 0, trace.iterations[to].sync];
  const lanes = createLanes(trace, { start, end, names, width });
  hide(...lanes.bars.map(({ rect }) => rect));
  return { ...lanes, start };
}

export function one(stop, { figure, motion, script, width }) {
  const { trace, from, to, tail, tokens, slower } = stop;
  const text = createText(tail, tokens, `Prompt: ${stop.prompt}`);
  const lanes = lanesOf(trace, { from, to }, { target: "Large model" }, width);
  const note = `All times are measured${slower > 1 ? `; bars are shown ${slower} times slower` : ""}.`;
  figure.append(text.node, lanes.node, el("p", { class: "dv-story-label" }, `${note} `, ...patternKeys("span", null)));
  script.wait(READING);
  lanes.bars.forEach((bar, order) => {
    const seconds = slower * (bar.end - bar.start);
    script.act(() => fill(motion, bar, seconds), seconds);
    send(script, motion, { from: () => endOf(bar), to: text.spans[order] });
  });
}

export function cheap({ trace, one: single, many, rows, tokens, slower }, { figure, motion, script, width }) {
  const both = [[1, single], [rows, many]].map(([size, seconds]) => {
    const names = { target: `${capital(NUMBERS[size])} token${size === 1 ? "" : "s"}` };
    const lane = createLanes(forwardOf(trace, seconds, size), { start: 0, end: 1.02 * many, names, width });
    const read = tokens.slice(0, size).map(({ text }) => ({ text: text.trim(), source: "target" }));
    const text = createText({ isCut: false, tokens: [] }, read);
    text.node.classList.add("dv-story-chips");
    figure.append(el("div", { class: "dv-story-pair" }, lane.node, text.node));
    hide(lane.bars[0].rect);
    return { bar: lane.bars[0], spans: text.spans, seconds: slower * seconds };
  });
  script.wait(READING);
  for (const { bar, spans, seconds } of both) {
    script.later(0, () => fill(motion, bar, seconds));
    spans.forEach((span, order) => script.later(seconds + order * EACH, () => reveal(span)));
  }
  script.wait(slower * many + rows * EACH);
}

export function guess({ trace, iteration, tail, slower }, { figure, motion, script, width, height }) {
  const text = createText(tail, iteration.committed);
  const nodes = draftedOf(iteration);
  const tree = createTree(nodes, tail, { width, height });
  const lanes = lanesOf(trace, { from: iteration.index, to: iteration.index }, { target: LARGE, draft: SMALL }, width);
  figure.append(text.node, tree.node, createKey(["pending", ...nodes.map(({ status }) => status)], { header: trace.header }), lanes.node);
  const born = timesOf({ ...iteration, drafted: nodes }, "drafted", trace.header);
  script.wait(READING);
  tree.parts.forEach((part, index) => {
    hide(part.group, part.edge);
    part.show("pending");
    script.later(slower * Math.max(0, born[index].born - lanes.start), () => {
      bring(motion, part.group);
      bring(motion, part.edge, "0 0");
    });
  });
  script.wait(fillInTime(script, motion, lanes, slower) + SEEN);
  // The first token is what the large model has come to itself.
  const first = tree.parts.find(({ node }) => node.status === "accepted");
  script.act(() => tree.parts.forEach(({ node, show }) => show(node.status)), SEEN);
  sendNode(script, motion, first, text.spans[0]);
}

const passWords = (tokens) => `${count(tokens, "token")}, one pass`;

export function right(stop, { figure, motion, script, width, height }) {
  const { trace, iteration, tail, slower } = stop;
  const nodes = proposedOf(iteration.checked);
  const text = createText(tail, iteration.committed.slice(0, stop.accepted));
  const tree = createTree(nodes, tail, { width, height });
  const names = { target: `${LARGE}: checks ${countGuesses(nodes.length)}` };
  const alone = { ...trace, header: { ...trace.header, draft: null } };
  const lanes = lanesOf(alone, { from: iteration.index, to: iteration.index }, names, width);
  const counter = el("p", { class: "dv-story-count" });
  figure.append(text.node, tree.node, createKey(["pending", "accepted"], { header: alone.header }), lanes.node, counter);
  hide(counter);
  tree.parts.forEach(({ show }) => show("pending"));
  script.wait(READING);
  script.wait(fillInTime(script, motion, lanes, slower) + SEEN);
  const accepted = tree.parts.filter(({ node }) => node.status === "accepted");
  accepted.forEach((part, order) => {
    script.act(() => part.show("accepted"), SEEN);
    sendNode(script, motion, part, text.spans[order], () => {
      reveal(counter);
      setText(counter, passWords(order + 1));
    });
  });
}

export function wrong(stop, { figure, motion, script, width, height }) {
  const { iteration, tail, accepted, alone, lost } = stop;
  const [before, coming] = [iteration.committed.slice(0, accepted), iteration.committed.slice(accepted, accepted + 1)];
  const text = createText({ ...tail, tokens: [...tail.tokens, ...before] }, coming);
  const { node, parts } = createTree(iteration.checked, tail, { width, height });
  const of = (...statuses) => parts.filter((part) => statuses.includes(part.node.status));
  const [[first], [correction]] = [of("rejected"), of("correction")];
  const counter = el("p", { class: "dv-story-count" }, accepted ? passWords(accepted) : "");
  const bill = el("p", { class: "dv-story-label" }, lost);
  const key = createKey(iteration.checked.map(({ status }) => status));
  figure.append(text.node, node, key, counter, bill);
  hide(bill);
  parts.forEach(({ show }) => show("pending"));
  of("accepted").forEach(({ group, show }) => {
    show("accepted");
    group.classList.add("dv-story-left");
  });
  hide(correction.group, correction.edge);
  script.wait(READING);
  script.act(() => first.show("rejected"), 2 * SEEN);
  script.act(() => of("discarded").forEach(({ show }) => show("discarded")), MOVE_SECONDS);
  script.act(() => bring(motion, bill), MOVE_SECONDS + SEEN);
  script.act(() => {
    correction.show("correction");
    bring(motion, correction.group);
    reveal(correction.edge);
  }, 2 * SEEN);
  sendNode(script, motion, correction, text.spans[0], () => setText(counter, passWords(accepted + 1)));
  if (!alone) return;
  const same = createText(alone, [], "The large model alone: the same ✓").node;
  same.classList.add("dv-story-alone");
  figure.append(same);
  hide(same);
  script.wait(SEEN);
  script.act(() => bring(motion, same), MOVE_SECONDS);
}

const [ROW_READING, ROW_SEEN, COLUMN] = [1, 0.35, 0.24];
// Of a row's width, what its tree has beside the candidates; none beside it on a narrow page.
const [TREES_PART, GAP, NARROW] = [0.62, 28, 700];
// What the first row takes of the figure's height; on a narrow page, the second has more.
const [SURE_HEIGHT, LEAST_HEIGHT] = [190, 170];
const RACE_SECONDS = 6;

const depthOf = (nodes, { parent }) => (parent < 0 ? 0 : 1 + depthOf(nodes, nodes[parent]));

function createRow({ iteration, tail, nodes, candidates, sum, trace }, { width, height }) {
  const chart = createCandidates();
  // The chart is part of a picture here; the story's words explain it.
  chart.node.querySelectorAll("[tabindex]").forEach((node) => node.removeAttribute("tabindex"));
  const isNarrow = width < NARROW;
  const inner = isNarrow ? width : TREES_PART * (width - GAP);
  const tree = createTree(nodes, tail, { width: inner, height, lines: isNarrow ? 2 : 1, isShort: isNarrow });
  const label = iteration.sequences === 1 ? "Sure: one sequence" : `Unsure: ${iteration.sequences} sequences`;
  const head = el("p", { class: "dv-story-label" }, label, el("span", { class: "dv-story-sum" }, sum));
  const node = el("div", { class: "dv-story-row" }, head, chart.node, tree.node);
  const find = (selector) => [...chart.node.querySelectorAll(selector)];
  const draw = (known) => {
    chart.draw({ ...iteration, candidates }, trace.header, known);
    for (const each of find(".dv-candidate-label")) each.textContent = each.textContent.replace("␣", "");
  };
  draw(1);
  return { node, tree, draw, find };
}

// The bars come, then the line, and then the branches: first their beginnings, and all others a column at a time.
function playRow({ nodes, candidates }, row, { motion, script }) {
  const { parts } = row.tree;
  hide(row.node, ...parts.flatMap(({ group, edge }) => [group, edge]));
  parts.forEach(({ show }) => show("pending"));
  script.act(() => {
    reveal(row.node);
    row.find(".dv-candidate-bar").forEach((bar) => motion.fill(bar, MOVE_SECONDS));
  }, MOVE_SECONDS + ROW_SEEN);
  script.act(() => {
    row.draw(2);
    row.find(".dv-theta").forEach((line) => motion.appear(line, "0 -12px"));
  }, MOVE_SECONDS + ROW_SEEN);
  parts.filter(({ node }) => node.parent < 0).forEach(({ group, edge, label, node }) => {
    const place = candidates.findIndex(({ id }) => id === node.id);
    const from = () => row.find(motion.isStill ? ".dv-candidate-value" : ".dv-candidate-label")[place] ?? label;
    send(script, motion, { from, to: label, come: () => reveal(group, edge) });
  });
  const deepest = Math.max(...nodes.map((node) => depthOf(nodes, node)));
  for (let depth = 1; depth <= deepest; depth++) {
    script.act(() => parts.filter(({ node }) => depthOf(nodes, node) === depth).forEach(({ group, edge }) => {
      reveal(edge);
      bring(motion, group, "-8px 0");
    }), COLUMN);
  }
  script.wait(ROW_SEEN);
  script.act(() => parts.forEach(({ node, show }) => show(node.status)), ROW_SEEN);
}

export function several({ trace, parts }, { figure, motion, script, width, room }) {
  const heights = [SURE_HEIGHT / 2, Math.max(LEAST_HEIGHT, room - SURE_HEIGHT)].slice(-parts.length);
  const rows = parts.map((part, place) => createRow({ ...part, trace }, { width, height: heights[place] }));
  const statuses = parts.flatMap(({ nodes }) => nodes.map(({ status }) => status));
  const key = createKey(["pending", ...statuses], { sources: [] });
  rows[0].node.append(key);
  figure.append(...rows.map(({ node }) => node));
  script.wait(ROW_READING);
  parts.forEach((part, place) => {
    // A narrow page has room for one after the other.
    if (place && width < NARROW && !motion.isStill) {
      script.act(() => {
        rows[place - 1].node.hidden = true;
        rows[place].node.append(key);
      });
    }
    playRow(part, rows[place], { motion, script });
  });
}

function createSide({ name, tokens, rate, passes }) {
  const text = createText({ isCut: false, tokens: [] }, tokens, name);
  const view = el("div", { class: "dv-story-view" });
  text.text.replaceWith(view);
  view.append(text.text);
  const counters = el("p", { class: "dv-story-count" });
  let [lines, height, seen, written] = [null, 0, 0, 0];
  const measure = () => {
    height = parseFloat(getComputedStyle(text.text).lineHeight);
    lines = text.spans.map((span) => Math.floor((span.offsetTop + span.offsetHeight / 2) / height));
    seen = Math.round(view.clientHeight / height);
  };
  return {
    node: el("div", { class: "dv-story-side" }, text.node, counters),
    show(tokensNow, passesNow) {
      if (!lines) measure();
      for (; written < tokensNow; written++) reveal(text.spans[written]);
      const above = Math.max(0, (lines[written - 1] ?? 0) + 1 - seen);
      text.text.style.transform = `translateY(${-above * height}px)`;
      const speed = passesNow === passes ? `${rate.toFixed(1)} tokens/s` : count(tokensNow, "token");
      setText(counters, `${speed} · ${count(passesNow, "pass", "passes")}`);
    },
  };
}

function createBars({ title, bars, why }) {
  const most = Math.max(...bars.map(([, { phi }]) => phi));
  const rows = bars.map(([name, found, method]) => {
    const bar = el("i", { style: `--part: ${found.phi / most}; --method: ${colorOf(method)}` });
    return el("li", {}, el("span", {}, name), bar, el("b", {}, measuredWords(found)));
  });
  const list = el("div", {}, el("p", { class: "dv-story-label" }, title), el("ul", {}, ...rows));
  return el("div", { class: "dv-story-bars" }, list, el("p", { class: "dv-story-label" }, why));
}

export function race({ sides, wall, average }, { figure, script, motion }) {
  const slower = RACE_SECONDS / wall;
  const shown = sides.map(createSide);
  const last = el("p", { class: "dv-story-yours" }, "Now try your own prompt.");
  const come = [...(average ? [createBars(average)] : []), last];
  figure.append(el("div", { class: "dv-story-sides" }, ...shown.map(({ node }) => node)), ...come);
  hide(...come);
  script.act(() => shown.forEach((side) => side.show(0, 0)), ROW_READING);
  sides.forEach(({ iterations }, place) => {
    let written = 0;
    iterations.forEach(({ sync, committed }, pass) => {
      const now = written += committed.length;
      script.later(slower * sync, () => shown[place].show(now, pass + 1));
    });
  });
  script.wait(RACE_SECONDS + ROW_SEEN);
  script.act(() => come.forEach((each) => bring(motion, each)), MOVE_SECONDS);
}
