// The pictures that the page saves: a drawing, over it the method and the prompt, under it what its marks mean.

import { svg } from "./dom.js";
import { statusesOf } from "./legend.js";
import { aboutOf } from "./methods.js";
import { block, boxOf, createSheet, finished, placed, sign, stroke } from "./picture.js";
import { clip, MARKS, visible } from "./words.js";

const [PICTURE_MARGIN, PICTURE_GAP, LEAST_WIDTH, MOST_WIDTH] = [16, 12, 720, 1280];
const [TITLE_STYLE, LABEL_STYLE] = [{ size: 15, weight: 600 }, { size: 12, weight: 600 }];
const PROMPT_LENGTH = 300;

const promptOf = (header) => `“${clip(visible(header.prompt.trim()), PROMPT_LENGTH)}”`;

// A name, and beside it the prompt, as much of it as there is room for.
export function titleNodes(sheet, name, header, { x, y, width, size }) {
  const from = sheet.widthOf(`${name}: `, { size, weight: TITLE_STYLE.weight });
  const prompt = sheet.fitted(promptOf(header), width - from, { size });
  return [sheet.line(`${name}: `, { x, y, size, weight: TITLE_STYLE.weight }), sheet.line(prompt, { x: x + from, y, size, paint: "subdued" })];
}

// What the marks of the tree mean; `full`: each in a sentence's part.
export function treeLegend({ paints }, header, { full }) {
  return statusesOf(header).map(([status, meaning]) => (
    { mark: [sign(MARKS[status], paints[status] ?? paints.pending)], words: full ? `${status}: ${meaning}` : status }
  ));
}

const shownBlock = ({ paints }) => block(paints.accent, { opacity: 0.3 });

export function timelineLegend(sheet, header) {
  const { paints } = sheet;
  const hatch = [0, 5, 10].map((x) => svg("line", { x1: x, x2: x + 4, y1: 1, y2: -9, stroke: paints.discarded, "stroke-width": 1.5, opacity: 0.5 }));
  const draft = header.draft ? [{ mark: [block(paints.draft)], words: "draft step, tokens" }] : [];
  return [
    { mark: [block(paints.target)], words: "target forward pass, tokens" }, ...draft,
    { mark: hatch, words: "idle" },
    { mark: [stroke(paints.text, { x1: 7, x2: 7, y1: -11, y2: 3, "stroke-width": 1, opacity: 0.55 })], words: "end of an iteration" },
    { mark: [shownBlock(sheet)], words: "the iteration shown" },
  ];
}

// Beside one another as far as there is room.
function arranged(drawings) {
  let [x, y, bottom] = [0, 0, 0];
  return drawings.map(({ drawing, label }) => {
    const [, , width, height] = boxOf(drawing);
    if (x && x + width > MOST_WIDTH) [x, y] = [0, bottom + PICTURE_GAP];
    const place = { drawing, label, x, y: label ? y + 18 : y, width, height };
    x += width + 2 * PICTURE_GAP;
    bottom = Math.max(bottom, place.y + height);
    return place;
  });
}

function pictureOf(sheet, { name, header, drawings, legend }) {
  const places = arranged(drawings);
  const width = Math.max(LEAST_WIDTH, ...places.map((place) => place.x + place.width));
  const top = PICTURE_MARGIN + TITLE_STYLE.size + PICTURE_GAP;
  const bottom = top + Math.max(0, ...places.map((place) => place.y + place.height)) + PICTURE_GAP;
  const under = sheet.legend(legend, { x: PICTURE_MARGIN, y: bottom, width });
  const nodes = places.flatMap(({ drawing, label, x, y }) => [
    ...(label ? [sheet.line(label, { x: PICTURE_MARGIN + x, y: top + y - 6, ...LABEL_STYLE })] : []),
    placed(drawing, { x: PICTURE_MARGIN + x, y: top + y }),
  ]);
  const place = { x: PICTURE_MARGIN, y: PICTURE_MARGIN + TITLE_STYLE.size - 3, width, ...TITLE_STYLE };
  const size = { width: width + 2 * PICTURE_MARGIN, height: Math.ceil(bottom + under.height + PICTURE_MARGIN) };
  return finished(sheet, [...titleNodes(sheet, name, header, place), ...nodes, ...under.nodes], size);
}

// drawings: the tree, the timeline, and a function that gives the charts, each {drawing, label}.
export function createPictures({ root, state, drawings }) {
  const make = (shown, legendOf, ending = "") => {
    const [sheet, { header }] = [createSheet(root), state];
    const name = `${aboutOf(header).title}${ending}`;
    return pictureOf(sheet, { name, header, drawings: shown, legend: legendOf(sheet, header) });
  };
  const fullLegend = (sheet, header) => treeLegend(sheet, header, { full: true });
  const shownLegend = (sheet) => (
    [{ mark: [shownBlock(sheet)], words: `iteration ${state.shown} of 0 to ${state.iterations.length - 1}` }]
  );
  return {
    tree: () => make([{ drawing: drawings.tree }], fullLegend, `, iteration ${state.shown}`),
    timeline: () => make([{ drawing: drawings.timeline }], timelineLegend),
    charts: () => make(drawings.charts(), shownLegend),
  };
}
