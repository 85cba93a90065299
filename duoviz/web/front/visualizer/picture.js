// Pictures that stand alone: a slide of one iteration, with its sentence, the tree, the timeline, and what their marks
// mean, under the prompt.

import { el, setAttributes, svg } from "./dom.js";
import { statusesOf } from "./help.js";
import { aboutOf } from "./methods.js";
import { advancePlay, saidOf } from "./player.js";
import { beginAt, firstSo, isTimed, SLOWLY, spanOf } from "./state.js";
import { createTimeline } from "./timeline.js";
import { createTree } from "./tree.js";
import { clip, FATES, MARKS, visible } from "./words.js";

const PICTURE_STYLES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "visibility", "display",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "text-decoration-line", "white-space", "unicode-bidi",
];
const PAINTS = [
  "text", "subdued", "border", "accent", "target", "draft", "pending", "accepted", "rejected", "discarded",
];
const EDGE = 2;
const [SMALL, WORDS_FROM, ENTRY_GAP, ROW_HEIGHT, LEGEND_SCALE] = [12, 20, 18, 18, 1.3];

export const SLIDE = { width: 1280, height: 720 };
const [SLIDE_MARGIN, SLIDE_GAP] = [32, 16];
const INSIDE = SLIDE.width - 2 * SLIDE_MARGIN;
const [TITLE_SIZE, SAID_SIZE, SAID_LINES, PROMPT_LENGTH] = [22, 20, 2, 300];
// The drawings' own width, in visualizer.css: so the tree is as much larger as the timeline, if it is not too high.
const TREE_SCALE = INSIDE / 868;

function backgroundOf(node) {
  for (let each = node; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    if (color && color !== "transparent" && !/, 0\)$/.test(color)) return color;
  }
  return "#ffffff";
}

function paintsOf(node) {
  const probe = el("i", { hidden: "" });
  node.append(probe);
  const paints = PAINTS.map((name) => {
    probe.style.color = `var(--dv-${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return { ...Object.fromEntries(paints), paper: backgroundOf(node) };
}

function inlineStyles(from, to) {
  const style = getComputedStyle(from);
  to.setAttribute("style", PICTURE_STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  // What is on its way is drawn where it is now.
  if (from.tagName === "g" && style.transform !== "none") to.setAttribute("transform", style.transform);
  Array.from(from.children).forEach((child, index) => inlineStyles(child, to.children[index]));
}

function boxOf(drawing) {
  const [left, top, width, height] = drawing.getAttribute("viewBox")?.split(" ").map(Number)
    ?? [0, 0, drawing.clientWidth, Number(drawing.getAttribute("height"))];
  return [left - EDGE, top - EDGE, Math.ceil(width) + 2 * EDGE, Math.ceil(height) + 2 * EDGE];
}

// The drawing as it looks now, with all its styles in it, at this place of a picture.
function placed(drawing, { x, y, scale }) {
  const [left, top, width, height] = boxOf(drawing);
  const copy = drawing.cloneNode(true);
  inlineStyles(drawing, copy);
  copy.removeAttribute("tabindex");
  setAttributes(copy, { x, y, width: scale * width, height: scale * height, viewBox: `${left} ${top} ${width} ${height}` });
  return copy;
}

// What letters are written with: `line` makes one, at a place; `fitted` shortens a text to a width, and `wrapped` makes
// lines of it. A style is {size, weight, paint}.
function createSheet(root) {
  // A picture has the system's letters, none that the page has fetched.
  const family = getComputedStyle(root).fontFamily.replace(/^"?Inter[^,]*, */, "");
  const paints = paintsOf(root);
  const pen = el("canvas").getContext("2d");
  const widthOf = (text, { size, weight = 400 }) => {
    pen.font = `${weight} ${size}px ${family}`;
    return pen.measureText(text).width;
  };
  const line = (text, { x, y, size, weight = 400, paint = "text" }, ...more) => svg("text", {
    x, y, fill: paints[paint], "font-family": family, "font-size": size, "font-weight": weight, style: "white-space:pre",
  // No picture is made of control characters, but for those that keep a word's direction to itself.
  }, text.split(/([\u2068\u2069])/).map((part, place) => (place % 2 ? part : visible(part))).join(""), ...more);
  const fitted = (text, width, style) => {
    const characters = Array.from(text);
    const cut = (number) => `${characters.slice(0, number).join("")}…`;
    if (widthOf(text, style) <= width) return text;
    return cut(firstSo(characters.length, (number) => widthOf(cut(number + 1), style) > width));
  };
  const wrapped = (text, width, style) => {
    const lines = [""];
    for (const word of text.split(/(?<=\s)/)) {
      if (widthOf((lines.at(-1) + word).trimEnd(), style) > width) lines.push("");
      lines[lines.length - 1] += word;
    }
    return lines;
  };
  return { paints, widthOf, line, fitted, wrapped };
}

export async function imageOf(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
  await image.decode();
  return image;
}

export async function pngOf(picture) {
  const canvas = el("canvas", { width: 2 * SLIDE.width, height: 2 * SLIDE.height });
  canvas.getContext("2d").drawImage(await imageOf(picture), 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const block = (fill, opacity = 1) => [svg("rect", { y: -9, width: 14, height: 10, fill, opacity })];
const stroke = (x1, x2, y1, y2, more) => svg("line", { x1, x2, y1, y2, ...more });

// What the marks of the tree mean, and of the timeline where it is drawn.
function entriesOf({ paints: all }, header) {
  const paints = { ...all, correction: all.target, unchecked: all.discarded };
  const statuses = statusesOf(header).map(([status]) => {
    const style = { x: 6, "text-anchor": "middle", "font-size": SMALL, "font-weight": 700, fill: paints[status] ?? paints.pending };
    return { mark: [svg("text", style, MARKS[status])], words: `${FATES[status]} (${status})` };
  });
  if (!isTimed(header)) return statuses;
  const hatch = { stroke: paints.discarded, "stroke-width": 1.5, opacity: 0.5 };
  const end = { stroke: paints.text, "stroke-width": 1, opacity: 0.55 };
  return [
    ...statuses,
    { mark: block(paints.target), words: "target forward pass, tokens" },
    ...(header.draft ? [{ mark: block(paints.draft), words: "draft step, tokens" }] : []),
    { mark: [0, 5, 10].map((x) => stroke(x, x + 4, 1, -9, hatch)), words: "idle" },
    ...(header.target.borrows ? [{ mark: block(paints.target, 0.28), words: "small model's cores work for the large one" }] : []),
    { mark: [stroke(7, 7, -11, 3, end)], words: "end of an iteration" },
    { mark: block(paints.accent, 0.3), words: "the iteration shown" },
  ];
}

// The entries in rows, as nodes, and how high these are.
function legendOf(sheet, header) {
  let [left, row] = [0, 0];
  const nodes = entriesOf(sheet, header).map(({ mark, words }) => {
    const length = WORDS_FROM + sheet.widthOf(words, { size: SMALL });
    if (left && LEGEND_SCALE * (left + length) > INSIDE) [left, row] = [0, row + 1];
    const place = `translate(${LEGEND_SCALE * left} ${LEGEND_SCALE * (SMALL + row * ROW_HEIGHT)}) scale(${LEGEND_SCALE})`;
    left += length + ENTRY_GAP;
    return svg("g", { transform: place }, ...mark, sheet.line(words, { x: WORDS_FROM, y: 0, size: SMALL, paint: "subdued" }));
  });
  return { nodes, height: LEGEND_SCALE * (row + 1) * ROW_HEIGHT };
}

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
  const legend = legendOf(sheet, header);
  const legendTop = SLIDE.height - SLIDE_MARGIN / 2 - legend.height;
  const [, , lanesWidth, lanesHeight] = lanes ? boxOf(lanes) : [0, 0, INSIDE, 0];
  const lanesScale = INSIDE / lanesWidth;
  const lanesTop = legendTop - SLIDE_GAP / 2 - lanesScale * lanesHeight;
  const treeTop = head + 2 * SLIDE_GAP + SAID_LINES * 1.3 * SAID_SIZE;
  const treeScale = Math.min(TREE_SCALE, (lanesTop - SLIDE_GAP - treeTop) / boxOf(tree.drawing).at(-1));
  return [
    sheet.line(title, { x: SLIDE_MARGIN, y: head, size: TITLE_SIZE, weight: 600 }, asked), ...texts,
    placed(tree.drawing, { x: SLIDE_MARGIN, y: treeTop, scale: treeScale }),
    ...(lanes ? [placed(lanes, { x: SLIDE_MARGIN, y: lanesTop, scale: lanesScale })] : []),
    svg("g", { transform: `translate(${SLIDE_MARGIN} ${legendTop})` }, ...legend.nodes),
  ];
}

export const laidOut = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

// Tree and timeline of a run, laid out where nobody sees them, and the picture of what they show: an SVG file's text.
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
      const paper = svg("rect", { ...SLIDE, fill: sheet.paints.paper });
      const slide = svg("svg", { ...SLIDE, viewBox: `0 0 ${SLIDE.width} ${SLIDE.height}` }, paper, ...slideNodes(sheet, state, drawn));
      return new XMLSerializer().serializeToString(slide);
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
