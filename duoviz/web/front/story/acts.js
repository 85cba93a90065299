// What is seen and what moves at each stop but the last two: an act lays out its figure and writes its script.

import { el, setText } from "../visualizer/dom.js";
import { timesOf } from "../visualizer/moments.js";
import { capital, count, countGuesses } from "../visualizer/words.js";
import { proposedOf } from "./finding.js";
import { createLanes, forwardOf, withoutDraft, bring, createText, hide, reveal, createTree } from "./figure.js";
import { MOVE_SECONDS } from "../visualizer/motion.js";
import { inMs, NUMBERS } from "./stops.js";

// What is read before anything moves, and what a change is to be seen for.
const [READING, SEEN, EACH] = [1.2, 0.5, 0.12];
const [LARGE, SMALL] = ["Large model (target)", "Small model (draft)"];

// A token goes from what `from` gives to its place. leave, come: called when it sets out, and when it is there.
export function send(script, motion, { from, to, leave = () => {}, come = () => {} }) {
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

// From its node, which stays as a trace of it.
const sendNode = (script, motion, { label, group }, to, come) => send(script, motion, {
  from: () => label, to, leave: () => group.classList.add("dv-story-left"), come,
});

// Where a bar has come to.
function endOf({ rect }) {
  const { left, top, width, height } = rect.getBoundingClientRect();
  return { left: left + width - height, top, width: height, height };
}

function fill(motion, { rect }, seconds) {
  reveal(rect);
  motion.fill(rect, seconds);
}

// Each bar fills in its time after the moment `start`; returns how long that takes.
function fillInTime(script, motion, bars, { start, slower }) {
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
  return { ...lanes, start, end };
}

export function one(stop, { figure, motion, script, width }) {
  const { trace, from, to, tail, tokens, slower } = stop;
  const text = createText(tail, tokens, `Prompt: ${stop.prompt}`);
  const lanes = lanesOf(trace, { from, to }, { target: "Large model" }, width);
  const note = `All times are measured${slower > 1 ? `; bars are shown ${slower} times slower` : ""}.`;
  figure.append(text.node, lanes.node, el("p", { class: "dv-story-label" }, note));
  script.wait(READING);
  lanes.bars.forEach((bar, order) => {
    const seconds = slower * (bar.end - bar.start);
    script.act(() => fill(motion, bar, seconds), seconds);
    send(script, motion, { from: () => endOf(bar), to: text.spans[order] });
  });
}

// "Eight tokens", of as many as that.
const tokensWords = (number) => `${capital(NUMBERS[number])} token${number === 1 ? "" : "s"}`;

export function cheap({ trace, one: single, many, rows, tokens, slower }, { figure, motion, script, width }) {
  const both = [[1, single], [rows, many]].map(([size, seconds]) => {
    const names = { target: `${tokensWords(size)}: ${inMs(seconds)}` };
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
  const nodes = proposedOf(iteration.drafted);
  const tree = createTree(nodes, tail, { width, height });
  const lanes = lanesOf(trace, { from: iteration.index, to: iteration.index }, { target: LARGE, draft: SMALL }, width);
  figure.append(text.node, tree.node, lanes.node);
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
  script.wait(fillInTime(script, motion, lanes.bars, { start: lanes.start, slower }) + SEEN);
  // The first token is what the large model has come to itself.
  const first = tree.parts.find(({ node }) => node.status === "accepted");
  script.act(() => tree.parts.forEach(({ node, show }) => show(node.status)), SEEN);
  sendNode(script, motion, first, text.spans[0]);
}

const passWords = (tokens) => `${count(tokens, "token")}, one pass`;

function passLane({ trace, iteration }, checked, width) {
  const names = { target: `${LARGE}: checks ${countGuesses(checked)}` };
  return lanesOf(withoutDraft(trace), { from: iteration.index, to: iteration.index }, names, width);
}

export function right(stop, { figure, motion, script, width, height }) {
  const { iteration, tail, slower } = stop;
  const nodes = proposedOf(iteration.checked);
  const text = createText(tail, iteration.committed.slice(0, stop.accepted));
  const tree = createTree(nodes, tail, { width, height });
  const lanes = passLane(stop, nodes.length, width);
  const counter = el("p", { class: "dv-story-count" });
  figure.append(text.node, tree.node, lanes.node, counter);
  hide(counter);
  tree.parts.forEach(({ show }) => show("pending"));
  script.wait(READING);
  script.wait(fillInTime(script, motion, lanes.bars, { start: lanes.start, slower }) + SEEN);
  const accepted = tree.parts.filter(({ node }) => node.status === "accepted");
  accepted.forEach((part, order) => {
    script.act(() => part.show("accepted"), SEEN);
    sendNode(script, motion, part, text.spans[order], () => {
      reveal(counter);
      setText(counter, passWords(order + 1));
    });
  });
}

// The wrong guess and what hung on it; where nothing is to move, they stay as what they are.
function fall(motion, parts) {
  parts.forEach(({ group, edge, node, show }, order) => {
    show(node.status);
    if (motion.isStill) return;
    // The first one's edge is that of the token in its place.
    for (const part of order ? [group, edge] : [group]) {
      hide(part);
      motion.move(part, [{ opacity: 1 }, { opacity: 0, translate: "0 36px" }], MOVE_SECONDS + order * EACH);
    }
  });
}

// The target's own token stands in the place of the wrong one, or where both are seen at once, below it.
function drawWrong({ iteration, tail }, motion, size) {
  const own = iteration.checked.find(({ status }) => status === "correction");
  const tree = createTree(motion.isStill ? iteration.checked : proposedOf(iteration.checked), tail, size);
  const of = (...statuses) => tree.parts.filter(({ node }) => statuses.includes(node.status));
  const [[first], [below]] = [of("rejected"), of("correction")];
  return { ...tree, of, first, correction: below ?? tree.put(first, own) };
}

export function wrong(stop, { figure, motion, script, width, height }) {
  const { iteration, tail, accepted, alone } = stop;
  const [before, coming] = [iteration.committed.slice(0, accepted), iteration.committed.slice(accepted, accepted + 1)];
  const text = createText({ ...tail, tokens: [...tail.tokens, ...before] }, coming);
  const { node, parts, of, first, correction } = drawWrong(stop, motion, { width, height });
  const counter = el("p", { class: "dv-story-count" }, accepted ? passWords(accepted) : "");
  figure.append(text.node, node, counter);
  parts.forEach(({ show }) => show("pending"));
  of("accepted").forEach(({ group, show }) => {
    show("accepted");
    group.classList.add("dv-story-left");
  });
  hide(correction.group);
  script.wait(READING);
  script.act(() => first.show("rejected"), 2 * SEEN);
  script.act(() => fall(motion, of("rejected", "discarded")), MOVE_SECONDS + SEEN);
  script.act(() => {
    correction.show("correction");
    bring(motion, correction.group);
  }, 2 * SEEN);
  sendNode(script, motion, correction, text.spans[0], () => setText(counter, passWords(accepted + 1)));
  if (alone) compare(alone, { figure, motion, script });
}

// What the large model wrote alone, in the other run: the same.
function compare(alone, { figure, motion, script }) {
  const { node } = createText(alone, [], "The large model alone: the same ✓");
  node.classList.add("dv-story-alone");
  figure.append(node);
  hide(node);
  script.wait(SEEN);
  script.act(() => bring(motion, node), MOVE_SECONDS);
}
