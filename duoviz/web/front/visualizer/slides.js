// A stretch of iterations as slides: the page's own tree and timeline at each moment, as they play slowly.

import { createBackstage, SLIDE } from "./film.js";
import { aboutOf } from "./methods.js";
import { boxOf, createSheet, finished, placed, timelineLegend, titleNodes, treeLegend } from "./picture.js";
import { advancePlay, PACES, SLOWLY } from "./player.js";
import { beginAt, spanOf } from "./state.js";
import { createTimeline } from "./timeline.js";
import { saidOf } from "./transport.js";
import { createTree } from "./tree.js";

export const MOST_ITERATIONS = 40;
export const SECONDS_EACH = PACES[SLOWLY];
const [SLIDE_MARGIN, SLIDE_GAP] = [32, 16];
const INSIDE = SLIDE.width - 2 * SLIDE_MARGIN;
const [TITLE_SIZE, SAID_SIZE, SAID_LINES, LEGEND_SCALE] = [22, 20, 2, 1.3];
// The drawings' own width, in visualizer.css: so the tree is as much larger as the timeline, if it is not too high.
const TREE_SCALE = INSIDE / 868;

// From the bottom to the top: the legend, the timeline as wide as the slide, and the tree in what is left.
function slideNodes(sheet, state, { tree, timeline }) {
  const { header } = state;
  const title = `${aboutOf(header).title}, iteration ${state.shown}`;
  const [said, head] = [{ size: SAID_SIZE }, SLIDE_MARGIN + TITLE_SIZE];
  const sentence = sheet.wrapped(saidOf(state), INSIDE, said).slice(0, SAID_LINES);
  const lineY = (row) => head + SLIDE_GAP + (row + 1) * 1.3 * SAID_SIZE;
  const texts = sentence.map((words, row) => sheet.line(words, { x: SLIDE_MARGIN, y: lineY(row), ...said }));
  const entries = [...treeLegend(sheet, header, { full: false }), ...timelineLegend(sheet, header)];
  const { height } = sheet.legend(entries, { x: 0, y: 0, width: INSIDE, scale: LEGEND_SCALE });
  const legendTop = SLIDE.height - SLIDE_MARGIN / 2 - height;
  const [, , lanesWidth, lanesHeight] = boxOf(timeline.drawing);
  const lanesScale = INSIDE / lanesWidth;
  const lanesTop = legendTop - SLIDE_GAP / 2 - lanesScale * lanesHeight;
  const treeTop = head + 2 * SLIDE_GAP + SAID_LINES * 1.3 * SAID_SIZE;
  const treeScale = Math.min(TREE_SCALE, (lanesTop - SLIDE_GAP - treeTop) / boxOf(tree.drawing).at(-1));
  return [
    ...titleNodes(sheet, title, header, { x: SLIDE_MARGIN, y: head, width: INSIDE, size: TITLE_SIZE }), ...texts,
    placed(tree.drawing, { x: SLIDE_MARGIN, y: treeTop, scale: treeScale }),
    placed(timeline.drawing, { x: SLIDE_MARGIN, y: lanesTop, scale: lanesScale }),
    ...sheet.legend(entries, { x: SLIDE_MARGIN, y: legendTop, width: INSIDE, scale: LEGEND_SCALE }).nodes,
  ];
}

// The slides of the iterations from `from` to `to` of what `shown` knows; see film.js. What is shown on the page stays
// as it is.
export function createSlides(root, shown, { from, to }) {
  const state = { ...shown, playing: true, follow: false, speed: SLOWLY };
  beginAt(state, from);
  const context = { state, redraw() {}, choose() {}, hover() {} };
  const drawn = { tree: createTree(context), timeline: createTimeline(context) };
  const sheet = createSheet(root);
  return {
    ...createBackstage(root, drawn.tree.node, drawn.timeline.node),
    part() {
      const { begin, end } = spanOf(state.iterations, state.shown);
      return (state.shown - from + (state.clock - begin) / (end - begin || 1)) / (to - from + 1);
    },
    next(elapsed) {
      advancePlay(state, elapsed);
      if (!state.playing || state.shown > to) return null;
      for (const part of Object.values(drawn)) part.draw();
      return finished(sheet, slideNodes(sheet, state, drawn), SLIDE);
    },
  };
}
