// The last two stops: the line θ with what begins over it, and the race of both runs.

import { createCandidates } from "../visualizer/candidates.js";
import { el, setText } from "../visualizer/dom.js";
import { count } from "../visualizer/words.js";
import { send } from "./acts.js";
import { MOVE_SECONDS } from "../visualizer/motion.js";
import { bring, createText, hide, reveal, createTree } from "./figure.js";

const [READING, SEEN, COLUMN] = [1, 0.35, 0.24];
// Of a row's width, what its tree has beside the candidates; none beside it on a narrow page.
const [TREES_PART, GAP, NARROW] = [0.62, 28, 700];
// What the first row takes of the figure's height; on a narrow page, the second has more.
const [SURE_HEIGHT, LEAST_HEIGHT] = [190, 170];
const RACE_SECONDS = 6;

const depthOf = (nodes, { parent }) => (parent < 0 ? 0 : 1 + depthOf(nodes, nodes[parent]));

function createRow({ iteration, tail, nodes, candidates, trace }, { width, height }) {
  const chart = createCandidates();
  // Part of a picture: what it means is told by the story's words.
  chart.node.querySelectorAll("[tabindex]").forEach((node) => node.removeAttribute("tabindex"));
  const isNarrow = width < NARROW;
  const inner = isNarrow ? width : TREES_PART * (width - GAP);
  const tree = createTree(nodes, tail, { width: inner, height, lines: isNarrow ? 2 : 1, isShort: isNarrow });
  const label = iteration.sequences === 1 ? "Sure: one sequence" : `Unsure: ${iteration.sequences} sequences`;
  const node = el("div", { class: "dv-story-row" }, el("p", { class: "dv-story-label" }, label), chart.node, tree.node);
  const find = (selector) => [...chart.node.querySelectorAll(selector)];
  const draw = (known) => {
    chart.draw({ ...iteration, candidates }, trace.header, known);
    // As in the tree beside it.
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
  }, MOVE_SECONDS + SEEN);
  script.act(() => {
    row.draw(2);
    row.find(".dv-theta").forEach((line) => motion.appear(line, "0 -12px"));
  }, MOVE_SECONDS + SEEN);
  parts.filter(({ node }) => node.parent < 0).forEach(({ group, edge, label, node }) => {
    const place = candidates.findIndex(({ id }) => id === node.id);
    // An arrow would cross the bars.
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
  script.wait(SEEN);
  // What the large model came to.
  script.act(() => parts.forEach(({ node, show }) => show(node.status)), SEEN);
}

export function several({ trace, parts }, { figure, motion, script, width, room }) {
  const heights = [SURE_HEIGHT / 2, Math.max(LEAST_HEIGHT, room - SURE_HEIGHT)].slice(-parts.length);
  const rows = parts.map((part, place) => createRow({ ...part, trace }, { width, height: heights[place] }));
  figure.append(...rows.map(({ node }) => node));
  script.wait(READING);
  parts.forEach((part, place) => {
    // A narrow page has room for one after the other.
    if (place && width < NARROW && !motion.isStill) script.act(() => { rows[place - 1].node.hidden = true; });
    playRow(part, rows[place], { motion, script });
  });
}

// A side's text, of which the newest lines are seen, and its counters.
function createSide({ name, tokens, rate, passes }) {
  const text = createText({ isCut: false, tokens: [] }, tokens, name);
  const view = el("div", { class: "dv-story-view" });
  text.text.replaceWith(view);
  view.append(text.text);
  const counters = el("p", { class: "dv-story-count" });
  let [lines, height, seen, written] = [null, 0, 0, 0];
  // Measured once, for all is laid out from the beginning: on which line each token stands, and how many are seen.
  const measure = () => {
    height = parseFloat(getComputedStyle(text.text).lineHeight);
    lines = text.spans.map((span) => Math.floor((span.offsetTop + span.offsetHeight / 2) / height));
    seen = Math.round(view.clientHeight / height);
  };
  return {
    node: el("div", { class: "dv-story-side" }, text.node, counters),
    // As many tokens as were written after so many passes.
    show(tokensNow, passesNow) {
      if (!lines) measure();
      for (; written < tokensNow; written++) reveal(text.spans[written]);
      const above = Math.max(0, (lines[written - 1] ?? 0) + 1 - seen);
      text.text.style.transform = `translateY(${-above * height}px)`;
      const speed = passesNow === passes ? `${rate.toFixed(1)} tokens/s` : count(tokensNow, "token");
      setText(counters, `${speed} · ${passesNow} ${passesNow === 1 ? "pass" : "passes"}`);
    },
  };
}

export function race({ sides, wall }, { figure, script, motion }) {
  const slower = RACE_SECONDS / wall;
  const shown = sides.map(createSide);
  const last = el("p", { class: "dv-story-yours" }, "Now yours.");
  figure.append(el("div", { class: "dv-story-sides" }, ...shown.map(({ node }) => node)), last);
  hide(last);
  script.act(() => shown.forEach((side) => side.show(0, 0)), READING);
  sides.forEach(({ tokens, ends }, place) => {
    let written = 0;
    ends.forEach((end, pass) => {
      while (written < tokens.length && tokens[written].at <= end) written += 1;
      const now = written;
      script.later(slower * end, () => shown[place].show(now, pass + 1));
    });
  });
  script.wait(RACE_SECONDS + SEEN);
  script.act(() => bring(motion, last), MOVE_SECONDS);
}
