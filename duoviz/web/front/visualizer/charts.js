// The fold "Details", one choice for all visualizers of a page, which stands at the page's root and is remembered; and
// behind it tokens written, k, γ and θ over the iterations, and the histogram of k.

import { el, placeOn, section, setAttributes, setText, svg, textButton, watchSize } from "./dom.js";
import { MEANINGS, term } from "./meanings.js";
import { remember, remembered } from "./remembered.js";
import { known } from "./words.js";

const KEPT = "duoviz details";
const MARK = "data-details";
const SAYS = "all numbers, k and θ over the iterations, the small model's candidates";

export const areDetailsOpen = () => document.documentElement.hasAttribute(MARK);

// For all visualizers of the page.
export function openDetails(isOpen) {
  document.documentElement.toggleAttribute(MARK, isOpen);
  for (const button of document.querySelectorAll(".dv-fold > button")) button.setAttribute("aria-expanded", isOpen);
}

// Folded, what it holds is laid out all the same: pictures are made of it.
function createDetails(redraw) {
  const button = textButton("Details", () => {
    openDetails(!areDetailsOpen());
    remember(KEPT, areDetailsOpen() ? "open" : "folded");
    redraw();
  });
  openDetails(areDetailsOpen() || remembered(KEPT) === "open");
  button.setAttribute("aria-expanded", areDetailsOpen());
  return el("div", { class: "dv-fold" }, button, el("span", { class: "dv-note" }, SAYS));
}

const CHART_HEIGHT = 44;
const GAPS = "Where the line has a gap, an iteration has no such number.";
// [name, its value in an iteration].
const SERIES = [
  ["written", ({ committed }) => committed.length], ["k", ({ sequences }) => sequences], ["gamma", ({ budget }) => budget],
  ["theta", ({ theta }) => theta],
];

export function linePath(values, top, width, steps) {
  const unit = width / Math.max(1, values.length);
  const heightOf = (value) => (CHART_HEIGHT - 2 - (value / top) * (CHART_HEIGHT - 8)).toFixed(1);
  return values.map((value, index) => {
    if (!known(value)) return "";
    const isBegin = !known(values[index - 1]);
    const x = (steps ? index : index + 0.5) * unit;
    const on = steps ? `H${((index + 1) * unit).toFixed(1)}` : isBegin ? "h0" : "";
    return `${isBegin ? "M" : "L"}${x.toFixed(1)} ${heightOf(value)}${on}`;
  }).join("");
}

function createChart([name, valueIn], { state, choose, redraw }) {
  const [label, meaning] = MEANINGS[name];
  const path = svg("path", { class: "dv-line" });
  const marker = svg("rect", { class: "dv-chart-marker", y: 0, height: CHART_HEIGHT });
  const shape = { class: "dv-chart-drawing", height: CHART_HEIGHT, role: "img", "aria-label": `${label} over iterations` };
  const drawing = svg("svg", shape, marker, path);
  const range = el("span", { class: "dv-scope" });
  drawing.addEventListener("click", (event) => choose(Math.floor(placeOn(drawing, event)[0] * state.iterations.length)));
  let width = 0, drawn = "";
  watchSize(drawing, (now) => { width = now; redraw(); });
  return {
    node: el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, term(label, `${meaning} ${GAPS}`), " ", range), drawing),
    draw() {
      const total = state.iterations.length;
      const unit = width / Math.max(1, total);
      setAttributes(marker, { x: Math.max(0, state.shown) * unit, width: state.shown < 0 ? 0 : Math.max(1.5, unit) });
      const key = `${state.epoch} ${total} ${width}`;
      if (key === drawn || !width) return;
      drawn = key;
      const values = state.iterations.map(valueIn);
      const top = name === "theta" ? 1 : values.reduce((high, value) => Math.max(high, value ?? 0), 1);
      path.setAttribute("d", linePath(values, top, width, name !== "theta"));
      setText(range, `0 to ${top}`);
    },
  };
}

function histogramNodes(iterations, tall) {
  const counts = Array(iterations.reduce((most, { sequences }) => Math.max(most, sequences), 8)).fill(0);
  for (const { sequences } of iterations) if (sequences) counts[sequences - 1] += 1;
  const [most, unit] = [Math.max(1, ...counts), 240 / counts.length];
  return counts.flatMap((number, index) => {
    const [height, middle] = [((tall - 28) * number) / most, (index + 0.5) * unit];
    const axis = (y, text) => svg("text", { class: "dv-axis", x: middle, y, "text-anchor": "middle" }, String(text));
    const bar = svg("rect", { class: "dv-histogram-bar", x: middle - 0.34 * unit, y: tall - 13 - height, width: 0.68 * unit, height });
    return [bar, ...(number ? [axis(tall - 16 - height, number)] : []), axis(tall - 2, index + 1)];
  });
}

export function createCharts(context) {
  const { state } = context;
  const charts = SERIES.map((series) => createChart(series, context));
  const histogram = svg("svg", { class: "dv-histogram", height: 46, role: "img", "aria-label": "How often each number of sequences was used" });
  const histogramBox = el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, term("Drafts by k", MEANINGS.k[1])), histogram);
  const [written, k, gamma, theta] = charts.map(({ node }) => node);
  const grid = el("div", { class: "dv-chart-grid" }, k, theta, histogramBox, written, gamma);
  let tall = 46, counted = "";
  watchSize(histogram, (width, height) => {
    tall = Math.max(46, (240 * height) / Math.max(1, width));
    context.redraw();
  });
  return {
    node: section("charts", "Over the iterations", createDetails(context.redraw), grid),
    draw() {
      const key = `${state.epoch} ${state.iterations.length} ${tall}`;
      if (key !== counted) {
        const isUsed = (valueIn) => state.iterations.some((iteration) => known(valueIn(iteration)));
        SERIES.forEach(([, valueIn], index) => { charts[index].node.hidden = !isUsed(valueIn); });
        histogramBox.hidden = !state.iterations.some(({ sequences }) => sequences > 0);
        setAttributes(histogram, { viewBox: `0 0 240 ${tall}` });
        histogram.replaceChildren(...histogramNodes(state.iterations, tall));
        counted = key;
      }
      charts.forEach((chart) => chart.draw());
    },
  };
}
