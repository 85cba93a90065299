// A slide of one iteration: its sentence, the tree, the timeline, and what their marks mean, under the prompt.

import { el, svg } from "./dom.js";
import { aboutOf } from "./methods.js";
import { SLOWLY } from "./pace.js";
import { boxOf, createSheet, finished, placed, timelineLegend, treeLegend } from "./picture.js";
import { advancePlay } from "./player.js";
import { beginAt, isTimed, spanOf } from "./state.js";
import { createTimeline } from "./timeline.js";
import { saidOf } from "./transport.js";
import { createTree } from "./tree.js";
import { clip, visible } from "./words.js";

export const SLIDE = { width: 1280, height: 720 };
const [SLIDE_MARGIN, SLIDE_GAP] = [32, 16];
const INSIDE = SLIDE.width - 2 * SLIDE_MARGIN;
const [TITLE_SIZE, SAID_SIZE, SAID_LINES, LEGEND_SCALE, PROMPT_LENGTH] = [22, 20, 2, 1.3, 300];
// The drawings' own width, in visualizer.css: so the tree is as much larger as the timeline, if it is not too high.
const TREE_SCALE = INSIDE / 868;

// From the bottom to the top: the legend, the timeline as wide as the slide, and the tree in what is left.
function slideNodes(sheet, state, { tree, timeline }) {
  const { header } = state;
  const [said, head] = [{ size: SAID_SIZE }, SLIDE_MARGIN + TITLE_SIZE];
  const title = `${aboutOf(header).title}, iteration ${state.shown}: `;
  const room = INSIDE - sheet.widthOf(title, { size: TITLE_SIZE, weight: 600 });
  const quoted = sheet.fitted(`“${clip(visible(header.prompt.trim()), PROMPT_LENGTH)}”`, room, { size: TITLE_SIZE });
  const asked = svg("tspan", { "font-weight": 400, "fill": sheet.paints.subdued }, quoted);
  const sentence = sheet.wrapped(saidOf(state), INSIDE, said).slice(0, SAID_LINES);
  const lineY = (row) => head + SLIDE_GAP + (row + 1) * 1.3 * SAID_SIZE;
  const texts = sentence.map((words, row) => sheet.line(words, { x: SLIDE_MARGIN, y: lineY(row), ...said }));
  const lanes = isTimed(header) ? timeline.drawing : null;
  const entries = [...treeLegend(sheet, header), ...(lanes ? timelineLegend(sheet, header) : [])];
  const { height } = sheet.legend(entries, { x: 0, y: 0, width: INSIDE, scale: LEGEND_SCALE });
  const legendTop = SLIDE.height - SLIDE_MARGIN / 2 - height;
  const [, , lanesWidth, lanesHeight] = lanes ? boxOf(lanes) : [0, 0, INSIDE, 0];
  const lanesScale = INSIDE / lanesWidth;
  const lanesTop = legendTop - SLIDE_GAP / 2 - lanesScale * lanesHeight;
  const treeTop = head + 2 * SLIDE_GAP + SAID_LINES * 1.3 * SAID_SIZE;
  const treeScale = Math.min(TREE_SCALE, (lanesTop - SLIDE_GAP - treeTop) / boxOf(tree.drawing).at(-1));
  return [
    sheet.line(title, { x: SLIDE_MARGIN, y: head, size: TITLE_SIZE, weight: 600 }, asked), ...texts,
    placed(tree.drawing, { x: SLIDE_MARGIN, y: treeTop, scale: treeScale }),
    ...(lanes ? [placed(lanes, { x: SLIDE_MARGIN, y: lanesTop, scale: lanesScale })] : []),
    ...sheet.legend(entries, { x: SLIDE_MARGIN, y: legendTop, width: INSIDE, scale: LEGEND_SCALE }).nodes,
  ];
}

export const laidOut = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

// Tree and timeline of a run, laid out where nobody sees them, and the picture of what they show.
function createStage(root, state) {
  const context = { state, redraw() {}, choose() {}, hover() {} };
  const drawn = { tree: createTree(context), timeline: createTimeline(context) };
  const sheet = createSheet(root);
  const nodes = Object.values(drawn).map(({ node }) => node);
  const place = el("div", { class: "dv-backstage", "aria-hidden": "true", inert: "" }, ...nodes);
  root.append(place);
  return {
    place,
    picture() {
      for (const part of Object.values(drawn)) part.draw();
      return finished(sheet, slideNodes(sheet, state, drawn), SLIDE);
    },
  };
}

// The slide of the iteration shown, as it is shown.
export async function slideOf(root, shown) {
  const { place, picture } = createStage(root, { ...shown });
  await laidOut();
  try {
    return picture();
  } finally {
    place.remove();
  }
}

// The slides of the iterations from `from` to `to` of a run that is shown, which stays as it is: next(elapsed) gives
// the picture so many seconds after the one before, null at the end. isSeen: whether they are laid out.
export function createSlides(root, shown, { from, to }) {
  const state = { ...shown, playing: true, follow: false, speed: SLOWLY };
  beginAt(state, from);
  const { place, picture } = createStage(root, state);
  return {
    isSeen: () => place.clientWidth > 0,
    remove: () => place.remove(),
    part() {
      const { begin, end } = spanOf(state.iterations, state.shown);
      return (state.shown - from + (state.clock - begin) / (end - begin || 1)) / (to - from + 1);
    },
    next(elapsed) {
      // What moves goes by the film's time, not by the page's.
      for (const moving of place.getAnimations({ subtree: true })) {
        moving.pause();
        moving.currentTime += 1000 * elapsed;
      }
      advancePlay(state, elapsed);
      return state.playing && state.shown <= to ? picture() : null;
    },
  };
}
