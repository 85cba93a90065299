// Pictures that stand alone: drawings with their styles, under a title and over a legend.

import { el, setAttributes, svg } from "./dom.js";
import { statusesOf } from "./help.js";
import { firstSo } from "./state.js";
import { MARKS, visible } from "./words.js";

const PICTURE_STYLES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "visibility", "display",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "text-decoration-line", "white-space", "unicode-bidi",
];
const PAINTS = [
  "text", "subdued", "border", "accent", "target", "draft", "pending", "accepted", "rejected", "discarded", "correction",
];
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

// What letters are written with: `line` makes one, at a place; `fitted` shortens a text to a width, `wrapped` breaks it
// into lines, and `legend` sets entries {mark, words} in rows. A style is {size, weight, paint}.
export function createSheet(root) {
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
  const canvas = el("canvas", { width: 2 * picture.width, height: 2 * picture.height });
  canvas.getContext("2d").drawImage(await imageOf(picture), 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

export const treeLegend = ({ paints }, header) => statusesOf(header).map(([status]) => {
  const style = { x: 6, "text-anchor": "middle", "font-size": SMALL, "font-weight": 700, fill: paints[status] ?? paints.pending };
  return { mark: [svg("text", style, MARKS[status])], words: status };
});

const block = (fill, opacity = 1) => [svg("rect", { y: -9, width: 14, height: 10, fill, opacity })];
const line = (x1, x2, y1, y2, more) => svg("line", { x1, x2, y1, y2, ...more });

export function timelineLegend({ paints }, header) {
  const hatch = { stroke: paints.discarded, "stroke-width": 1.5, opacity: 0.5 };
  const end = { stroke: paints.text, "stroke-width": 1, opacity: 0.55 };
  return [
    { mark: block(paints.target), words: "target forward pass, tokens" },
    ...(header.draft ? [{ mark: block(paints.draft), words: "draft step, tokens" }] : []),
    { mark: [0, 5, 10].map((x) => line(x, x + 4, 1, -9, hatch)), words: "idle" },
    { mark: [line(7, 7, -11, 3, end)], words: "end of an iteration" },
    { mark: block(paints.accent, 0.3), words: "the iteration shown" },
  ];
}
