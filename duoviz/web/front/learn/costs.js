// The figures "target costs" and "costs": what one forward takes with n tokens in it, as measured; the draft's too in
// "costs".

import { el, setAttributes, setText, svg, watchSize } from "../visualizer/dom.js";
import { asShown, duration } from "../visualizer/words.js";
import { createSlider } from "./parts.js";

const [LEFT, BOTTOM, TOP] = [40, 44, 26];

export function timeAt(points, count) {
  const after = Math.max(1, points.findIndex(([each]) => each >= count));
  const [[n0, t0], [n1, t1]] = [points[after - 1], points[after]];
  return t0 + ((t1 - t0) * (count - n0)) / (n1 - n0);
}

function curve(points, place, name) {
  const line = svg("polyline", { class: "dl-curve", "data-side": name, points: points.map(([n, t]) => place(n, t).join(" ")).join(",") });
  const dots = points.map(([n, t]) => svg("circle", { class: "dl-dot", "data-side": name, cx: place(n, t)[0], cy: place(n, t)[1], r: 3 }));
  return [line, ...dots];
}

function label(words, x, y, name, anchor = "end") {
  return svg("text", { class: "dl-curve-label", "data-side": name, x, y, "text-anchor": anchor }, words);
}

function draftCurve(points, place) {
  const [x, y] = place(...points.at(-1));
  return [...curve(points, place, "draft"), label("draft, sequences at once", x + 8, y + 4, "draft", "start")];
}

function drawCosts(drawing, { target, draft, draft_device: draftDevice }, width, height) {
  const [last, slowest] = target.at(-1);
  const one = target[0][1];
  const top = 1.15 * Math.max(slowest, one * 2);
  const [across, up] = [width - LEFT - 8, height - BOTTOM - TOP];
  const place = (n, t) => [LEFT + (n / last) * across, height - BOTTOM - (t / top) * up];
  const steep = Math.min(last, top / one);
  const [endX, endY] = place(last, slowest);
  const [steepX, steepY] = place(steep, steep * one);
  const marker = svg("line", { class: "dl-marker", y1: TOP, y2: height - BOTTOM });
  const ticks = target.map(([n]) => n).filter((n) => n === 1 || n >= 8)
    .map((n) => svg("text", { x: place(n, 0)[0], y: height - 26, "text-anchor": "middle" }, String(n)));
  const marked = [0, one, timeAt(target, Math.min(8, last)), slowest];
  const scale = marked.filter((t, index, all) => !index || t - all[index - 1] > top / 10)
    .map((t) => svg("text", { x: LEFT - 5, y: place(0, t)[1] + 4, "text-anchor": "end" }, t ? String(+(1000 * t).toFixed(t < 0.1 ? 1 : 0)) : "0"));
  const [x0, y0] = place(0, 0);
  setAttributes(drawing, { viewBox: `0 0 ${width} ${height}`, width, height });
  drawing.replaceChildren(svg("path", { class: "dl-axis", d: `M${x0} ${TOP}V${y0}H${width - 4}` }), marker, ...ticks, ...scale,
    svg("line", { class: "dl-one-by-one", x1: place(1, one)[0], y1: place(1, one)[1], x2: steepX, y2: steepY }),
    label("one after another", steepX + 4, steepY - 8, "one", "start"),
    ...curve(target, place, "target"), label("target, one forward pass", endX, endY - 8, "target"),
    ...(draft ? draftCurve(draft, place) : []), svg("text", { x: 2, y: 12 }, "ms"),
    svg("text", { x: (LEFT + width) / 2, y: height - 5, "text-anchor": "middle" }, draftDevice ? "tokens per forward pass, or draft sequences" : "tokens per forward pass"));
  return (n) => setAttributes(marker, { x1: place(n, 0)[0], x2: place(n, 0)[0] });
}

export function costsFigure(figure) {
  const { target, draft, target_device: targetDevice, draft_device: draftDevice } = figure;
  const [last, one] = [target.at(-1)[0], target[0][1]];
  const drawing = svg("svg", { class: "dl-drawing", role: "img", "aria-label": "Time of a forward pass by its number of tokens" });
  const box = el("div", { class: "dl-box" }, drawing);
  const note = el("p", { class: "dl-note" });
  let mark = () => {};
  const slider = createSlider({
    label: "Tokens per forward pass", min: 1, max: last, value: Math.min(8, last),
    onMove(n) {
      mark(n);
      const together = timeAt(target, n);
      const ratio = asShown(together) / asShown(one);
      setText(note, n === 1 ? `One token: ${duration(one)}.`
        : `${n} tokens in one forward pass: ${duration(together)}, ${ratio.toFixed(ratio < 10 ? 2 : 1)} times as long as one token. One after another: ${duration(n * asShown(one))}.`);
    },
  });
  watchSize(box, (width, height) => {
    if (!width) return;
    mark = drawCosts(drawing, figure, width, height);
    mark(slider.value());
  });
  const devices = draft ? `Target: ${targetDevice}. Draft: ${draftDevice}.` : `Target: ${targetDevice}.`;
  const where = el("p", { class: "dl-note" }, `Measured before this run, on the cores that its method uses. ${devices}`);
  return { node: el("div", {}, box, slider.node, note, where), reading: slider.value };
}
