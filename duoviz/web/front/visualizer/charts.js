// Behind the fold: tokens written, k, γ and θ over the iterations, and the histogram of k.

import { createDetails } from "./details.js";
import { el, section, setAttributes, setText, svg, watchSize } from "./dom.js";
import { known } from "./words.js";
import { MEANINGS, term } from "./meanings.js";

const CHART_HEIGHT = 44;
const HISTOGRAM_LABEL = "Iterations by k";
// [name, its value in an iteration].
const SERIES = [
  ["written", ({ committed }) => committed.length], ["k", ({ sequences }) => sequences], ["gamma", ({ budget }) => budget],
  ["theta", ({ theta }) => theta],
];

const heightOf = (value, top) => (CHART_HEIGHT - 2 - (value / top) * (CHART_HEIGHT - 8)).toFixed(1);

function linePath(values, top, width, steps) {
  const unit = width / Math.max(1, values.length);
  let path = "", pen = false;
  values.forEach((value, index) => {
    if (!known(value)) return (pen = false);
    const x = index * unit;
    path += `${pen ? "L" : "M"}${(steps ? x : x + unit / 2).toFixed(1)} ${heightOf(value, top)}`;
    path += steps ? `H${(x + unit).toFixed(1)}` : pen ? "" : "h0";
    pen = true;
  });
  return path;
}

// Where many iterations share a pixel: from the lowest to the highest value there.
function densePath(values, top, width) {
  let path = "";
  for (let x = 0; x < width; x++) {
    const [from, to] = [Math.floor((x / width) * values.length), Math.ceil(((x + 1) / width) * values.length)];
    const here = values.slice(from, to).filter(known);
    if (here.length) path += `${path ? "L" : "M"}${x} ${heightOf(Math.min(...here), top)}V${heightOf(Math.max(...here), top)}`;
  }
  return path;
}

function createChart([name, valueIn], { state, choose, redraw }) {
  const [label, meaning] = MEANINGS[name];
  const path = svg("path", { class: "dv-line", "data-chart": name });
  const marker = svg("rect", { class: "dv-chart-marker", y: 0, height: CHART_HEIGHT });
  const shape = { class: "dv-chart-drawing", height: CHART_HEIGHT, role: "img", "aria-label": `${label} over iterations` };
  const drawing = svg("svg", shape, marker, path);
  const range = el("span", { class: "dv-scope" });
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    choose(Math.floor(((event.clientX - box.left) / box.width) * state.iterations.length));
  });
  let width = 0, drawn = "";
  watchSize(drawing, (now) => { width = now; redraw(); });
  return {
    node: el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, term(label, meaning), " ", range), drawing),
    picture: () => ({ drawing, label: `${label}, ${range.textContent}` }),
    draw() {
      const total = state.iterations.length;
      const unit = width / Math.max(1, total);
      setAttributes(marker, { x: Math.max(0, state.shown) * unit, width: state.shown < 0 ? 0 : Math.max(1.5, unit) });
      const key = `${state.epoch} ${total} ${width}`;
      if (key === drawn || !width) return;
      drawn = key;
      const values = state.iterations.map(valueIn);
      const highest = values.reduce((high, value) => (known(value) ? Math.max(high, value) : high), 0);
      const top = name === "theta" ? 1 : Math.max(1, highest);
      path.setAttribute("d", total > 2 * width ? densePath(values, top, width) : linePath(values, top, width, name !== "theta"));
      setText(range, `0 to ${top}`);
    },
  };
}

function histogramNodes(counts) {
  const most = Math.max(1, ...counts);
  const unit = 240 / Math.max(8, counts.length - 1);
  const nodes = [];
  for (let k = 1; k <= Math.max(8, counts.length - 1); k++) {
    const number = counts[k] ?? 0;
    const height = (18 * number) / most;
    const middle = (k - 0.5) * unit;
    nodes.push(svg("rect", { class: "dv-histogram-bar", "data-k": k, "data-count": number, x: middle - 0.34 * unit, y: 33 - height, width: 0.68 * unit, height }));
    if (number) nodes.push(svg("text", { class: "dv-axis", x: middle, y: 30 - height, "text-anchor": "middle" }, String(number)));
    nodes.push(svg("text", { class: "dv-axis", x: middle, y: 44, "text-anchor": "middle" }, String(k)));
  }
  return nodes;
}

export function createCharts(context) {
  const { state } = context;
  const charts = SERIES.map((series) => createChart(series, context));
  const histogram = svg("svg", { class: "dv-histogram", viewBox: "0 0 240 46", height: 46, role: "img", "aria-label": "How often each number of sequences was used" });
  const histogramBox = el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, term(HISTOGRAM_LABEL, MEANINGS.k[1])), histogram);
  const [written, k, gamma, theta] = charts.map(({ node }) => node);
  const more = el("div", { class: "dv-chart-grid dv-more-charts" }, written, gamma, histogramBox);
  const grid = el("div", { class: "dv-chart-grid" }, k, theta);
  let epoch, counts, counted, used;
  return {
    node: section("charts", "Over the iterations", createDetails(), grid, more),
    pictures() {
      const shown = charts.filter((chart) => !chart.node.hidden).map((chart) => chart.picture());
      return histogramBox.hidden ? shown : [...shown, { drawing: histogram, label: HISTOGRAM_LABEL }];
    },
    draw() {
      if (epoch !== state.epoch) [epoch, counts, counted, used] = [state.epoch, [0], -1, new Set()];
      const isNew = counted < state.iterations.length;
      for (counted = Math.max(0, counted); counted < state.iterations.length; counted++) {
        const iteration = state.iterations[counted];
        SERIES.forEach(([, valueIn], index) => known(valueIn(iteration)) && used.add(charts[index]));
        const { sequences } = iteration;
        if (sequences > 0) counts[sequences] = (counts[sequences] ?? 0) + 1;
      }
      if (isNew) histogram.replaceChildren(...histogramNodes(Array.from(counts, (number) => number ?? 0)));
      for (const chart of charts) chart.node.hidden = !used.has(chart);
      histogramBox.hidden = counts.length < 2;
      charts.forEach((chart) => chart.draw());
    },
  };
}
