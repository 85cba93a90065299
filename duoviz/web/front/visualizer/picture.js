// Pictures that stand alone: drawings with their styles, under a title and over a legend.

import { el, setAttributes, svg } from "./dom.js";
import { statusesOf } from "./help.js";
import { aboutOf } from "./methods.js";
import { firstSo } from "./state.js";
import { clip, MARKS, visible } from "./words.js";

const PICTURE_STYLES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "visibility", "display",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "text-decoration-line", "white-space", "unicode-bidi",
];
const PAINTS = [
  "text", "subdued", "border", "accent", "target", "draft", "pending", "accepted", "rejected", "discarded", "correction",
];
const MAX_CANVAS = 16_000;
const EDGE = 2;
const [SMALL, WORDS_FROM, ENTRY_GAP, ROW_HEIGHT] = [12, 20, 18, 18];

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

export function boxOf(drawing) {
  const [left, top, width, height] = drawing.getAttribute("viewBox")?.split(" ").map(Number)
    ?? [0, 0, drawing.clientWidth, Number(drawing.getAttribute("height"))];
  return [left - EDGE, top - EDGE, Math.ceil(width) + 2 * EDGE, Math.ceil(height) + 2 * EDGE];
}

// The drawing as it looks now, with all its styles in it, at this place of a picture.
export function placed(drawing, { x, y, scale = 1 }) {
  const [left, top, width, height] = boxOf(drawing);
  const copy = drawing.cloneNode(true);
  inlineStyles(drawing, copy);
  copy.removeAttribute("tabindex");
  setAttributes(copy, { x, y, width: scale * width, height: scale * height, viewBox: `${left} ${top} ${width} ${height}` });
  return copy;
}

export const sign = (text, fill) => svg("text", { x: 6, "text-anchor": "middle", "font-size": SMALL, "font-weight": 700, fill }, text);
export const block = (fill, more = {}) => svg("rect", { y: -9, width: 14, height: 10, fill, ...more });
export const stroke = (color, more = {}) => svg("line", { x1: 0, x2: 14, y1: -4, y2: -4, stroke: color, "stroke-width": 2, ...more });

// What letters are written with: `line` makes one, at a place; `fitted` shortens a text to a width, `wrapped` breaks it
// into lines, and `legend` sets entries {mark, words} in rows. A style is {size, weight, paint, anchor}.
export function createSheet(root) {
  const family = getComputedStyle(root).fontFamily;
  const paints = paintsOf(root);
  const pen = el("canvas").getContext("2d");
  const widthOf = (text, { size, weight = 400 }) => {
    pen.font = `${weight} ${size}px ${family}`;
    return pen.measureText(text).width;
  };
  const line = (text, { x, y, size, weight = 400, paint = "text", anchor = "start" }) => svg("text", {
    x, y, fill: paints[paint], "font-family": family, "font-size": size, "font-weight": weight, "text-anchor": anchor, style: "white-space:pre",
  // No picture is made of control characters, but for those that keep a word's direction to itself.
  }, text.split(/([\u2068\u2069])/).map((part, place) => (place % 2 ? part : visible(part))).join(""));
  const fitting = (characters, width, style) => (
    firstSo(characters.length, (number) => widthOf(characters.slice(0, number + 1).join(""), style) > width)
  );
  const fitted = (text, width, style) => {
    if (widthOf(text, style) <= width) return text;
    const characters = Array.from(text);
    return `${characters.slice(0, fitting(characters, width - widthOf("…", style), style)).join("")}…`;
  };
  const wrapped = (text, width, style) => {
    const lines = [""];
    const fits = (words) => widthOf(words.trimEnd(), style) <= width;
    for (const word of text.split(/(?<=\s)/)) {
      if (!fits(lines.at(-1) + word) && lines.at(-1)) lines.push("");
      let rest = Array.from(lines.pop() + word);
      for (; !fits(rest.join("")); rest = rest.slice(lines.at(-1).length)) lines.push(rest.slice(0, Math.max(1, fitting(rest, width, style))).join(""));
      lines.push(rest.join(""));
    }
    return lines;
  };
  const legend = (entries, { x, y, width, scale = 1 }) => {
    let [left, row] = [0, 0];
    const nodes = entries.map(({ mark, words }) => {
      const length = WORDS_FROM + widthOf(words, { size: SMALL });
      if (left && scale * (left + length) > width) [left, row] = [0, row + 1];
      const entry = svg("g", { transform: `translate(${x + scale * left} ${y + scale * (SMALL + row * ROW_HEIGHT)}) scale(${scale})` });
      entry.append(...mark, line(words, { x: WORDS_FROM, y: 0, size: SMALL, paint: "subdued" }));
      left += length + ENTRY_GAP;
      return entry;
    });
    return { nodes, height: scale * (row + 1) * ROW_HEIGHT };
  };
  return { paints, widthOf, line, fitted, wrapped, legend };
}

export function finished({ paints }, nodes, { width, height }) {
  const paper = svg("rect", { width, height, fill: paints.paper });
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, paper, ...nodes);
  return { text: new XMLSerializer().serializeToString(picture), width, height };
}

export async function imageOf({ text }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  return image;
}

export async function pngOf(picture) {
  const { width, height } = picture;
  const image = await imageOf(picture);
  const scale = Math.min(2, MAX_CANVAS / Math.max(width, height));
  const canvas = el("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0, width, height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const [PICTURE_MARGIN, PICTURE_GAP, LEAST_WIDTH, MOST_WIDTH] = [16, 12, 720, 1280];
const [TITLE_STYLE, LABEL_STYLE] = [{ size: 15, weight: 600 }, { size: 12, weight: 600 }];
const PROMPT_LENGTH = 300;

const promptOf = (header) => `“${clip(visible(header.prompt.trim()), PROMPT_LENGTH)}”`;

export function titleNodes(sheet, name, header, { x, y, width, size }) {
  const from = sheet.widthOf(`${name}: `, { size, weight: TITLE_STYLE.weight });
  const prompt = sheet.fitted(promptOf(header), width - from, { size });
  return [sheet.line(`${name}: `, { x, y, size, weight: TITLE_STYLE.weight }), sheet.line(prompt, { x: x + from, y, size, paint: "subdued" })];
}

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
