// When does it pay? A map of each method's φ by the cost model, with a point to be moved to one's own machine and
// draft.

import { el, placeOn, setText, svg } from "../visualizer/dom.js";
import { onKeys } from "../visualizer/keys.js";
import { fixed } from "../visualizer/words.js";

const [MAP_WIDTH, MAP_HEIGHT, MAP_LEFT, MAP_RIGHT, MAP_TOP, MAP_BOTTOM] = [244, 216, 38, 12, 6, 36];
const [RING, CIRCLE, NAME_SIGN] = [10, 4.5, 3];
const RATIO_TICKS = [0.5, 2, 8, 32, 128];
const MOVES = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 5], PageDown: [0, -5],
};

// colours: [φ, [red, green, blue, how opaque]] by growing φ, each part up to 255.
export function colourOf(phi, colours) {
  const value = Math.min(colours.at(-1)[0], Math.max(0, phi));
  const above = Math.max(1, colours.findIndex(([at]) => at >= value));
  const [[low, from], [high, to]] = [colours[above - 1], colours[above]];
  return from.map((part, index) => Math.round(part + ((value - low) / (high - low)) * (to[index] - part)));
}

function pictureOf(lines, colours) {
  const canvas = el("canvas", { width: lines[0].length, height: lines.length });
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  lines.toReversed().flat().forEach((phi, index) => image.data.set(colourOf(phi, colours), 4 * index));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const inCss = ([red, green, blue, opaque]) => `rgb(${red} ${green} ${blue} / ${opaque / 255})`;

// Where the values pass a level, as a path: through each square of four neighbours a line between the sides that they
// pass it on, in proportion. `within` says of which squares.
export function borderPath(lines, level, toX, toY, within = () => true) {
  const crossing = ([x, y], [otherX, otherY]) => {
    const [one, other] = [lines[y][x], lines[otherY][otherX]];
    if ((one >= level) === (other >= level)) return null;
    const part = (level - one) / (other - one);
    return `${toX(x + part * (otherX - x)).toFixed(1)} ${toY(y + part * (otherY - y)).toFixed(1)}`;
  };
  let path = "";
  for (let y = 0; y + 1 < lines.length; y++) {
    for (let x = 0; x + 1 < lines[0].length; x++) {
      if (!within(x, y)) continue;
      const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
      const found = corners.map((corner, index) => crossing(corner, corners[(index + 1) % 4])).filter(Boolean);
      for (let index = 0; index + 1 < found.length; index += 2) path += `M${found[index]}L${found[index + 1]}`;
    }
  }
  return path;
}

// The ways to draft, with the sign of their lead: over less of a map a way is not spoken of.
const [WAYS, LEAST_PLACES] = [[["parallel", 1], ["sequential", -1]], 60];

// Where to write each way's name: where it is faster by `gain` and gains that over the baseline too, as near to the
// middle of this as is free.
export function wayPlaces(panel, rows, gain, isFree = () => true) {
  return WAYS.flatMap(([name, sign]) => {
    const pays = (lead, alpha, ratio) => sign * lead >= Math.log(gain) && panel[rows][alpha][ratio] >= gain;
    const found = panel.beside[rows].flatMap((line, alpha) => (
      line.flatMap((lead, ratio) => (pays(lead, alpha, ratio) ? [{ name, ratio, alpha }] : []))));
    const middle = (which) => found.reduce((sum, place) => sum + place[which], 0) / found.length;
    const [ratio, alpha] = [middle("ratio"), middle("alpha")];
    const distance = (place) => Math.hypot(place.ratio - ratio, place.alpha - alpha);
    const free = found.length > LEAST_PLACES ? found.filter(isFree) : [];
    return free.length ? [free.reduce((best, place) => (distance(place) < distance(best) ? place : best))] : [];
  });
}

// Places among the values, which may lie between two of them: ratios are spaced evenly by their logarithms.
export const placeOfRatio = (ratio, { ratios }) => (
  ((ratios.length - 1) * Math.log(ratio / ratios[0])) / Math.log(ratios.at(-1) / ratios[0])
);
export const placeOfAlpha = (alpha, { alphas }) => (
  ((alphas.length - 1) * (alpha - alphas[0])) / (alphas.at(-1) - alphas[0])
);

// Where a point starts, stands what was measured.
const stepsAt = (ratio, { ratios, start }) => fixed(ratio === start.ratio ? start.steps : ratios[ratio], 1);

function axisNodes(pays, toX, toY) {
  const bottom = MAP_HEIGHT - MAP_BOTTOM;
  const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor, class: "ll-axis" }, words);
  const upward = svg("text", { transform: `translate(10 ${(MAP_TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "ll-axis" }, "α: best token right");
  return [
    ...RATIO_TICKS.map((ratio) => text(toX(placeOfRatio(ratio, pays)), bottom + 14, "middle", String(ratio))),
    ...[0.1, 0.3, 0.5, 0.7, 0.9].map((alpha) => text(MAP_LEFT - 4, toY(placeOfAlpha(alpha, pays)) + 4, "end", String(alpha))),
    text((MAP_LEFT + MAP_WIDTH - MAP_RIGHT) / 2, MAP_HEIGHT - 6, "middle", "draft steps per target pass"), upward,
  ];
}

function scalesOf({ ratios, alphas }) {
  const last = { ratio: ratios.length - 1, alpha: alphas.length - 1 };
  const [width, height] = [MAP_WIDTH - MAP_LEFT - MAP_RIGHT, MAP_HEIGHT - MAP_TOP - MAP_BOTTOM];
  return {
    size: { width, height },
    toX: (ratio) => MAP_LEFT + (ratio / last.ratio) * width,
    toY: (alpha) => MAP_TOP + (1 - alpha / last.alpha) * height,
    toPlace: (x, y) => ({
      ratio: ((x - MAP_LEFT) / width) * last.ratio, alpha: (1 - (y - MAP_TOP) / height) * last.alpha,
    }),
  };
}

// The ring: it follows the pointer over the drawing, and the keys.
function createHandle(drawing, panel, pays, toPlace, move) {
  const range = { "aria-valuemin": pays.alphas[0], "aria-valuemax": pays.alphas.at(-1) };
  const slider = { tabindex: 0, role: "slider", "aria-label": `Your point, ${panel.method}`, ...range };
  const handle = svg("g", { class: "ll-handle", ...slider }, svg("circle", { r: RING }), svg("circle", { r: 2.5 }));
  const follow = (event) => {
    const [across, down] = placeOn(drawing, event);
    move(() => toPlace(across * MAP_WIDTH, down * MAP_HEIGHT));
  };
  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    event.preventDefault();
    follow(event);
  });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons === 1) follow(event); });
  onKeys(handle, Object.fromEntries(Object.entries(MOVES).map(([key, [right, up]]) => (
    [key, () => move(({ ratio, alpha }) => ({ ratio: ratio + right, alpha: alpha + up }))]))));
  return handle;
}

function createWays(panel, pays, { toX, toY }, circles) {
  const [border, names] = [svg("path", { class: "ll-border ll-ways" }), svg("g")];
  return {
    nodes: [border, names],
    hasBorder: () => Boolean(border.getAttribute("d")),
    drawBorder(rows) {
      const gains = (ratio, alpha) => panel[rows][alpha + 1][ratio + 1] >= pays.gain;
      const isDrawn = wayPlaces(panel, rows, pays.gain).some(({ name }) => name === "parallel");
      border.setAttribute("d", isDrawn ? borderPath(panel.beside[rows], Math.log(pays.gain), toX, toY, gains) : "");
    },
    drawNames(ring, rows) {
      const isFree = ({ name, ratio, alpha }) => {
        const [half, x, y] = [NAME_SIGN * name.length, toX(ratio), toY(alpha)];
        const isBeside = ([otherRatio, otherAlpha]) => (
          Math.abs(toX(otherRatio) - x) > half + RING || Math.abs(toY(otherAlpha) - y) > RING + 6);
        return x - half >= MAP_LEFT && x + half <= MAP_WIDTH - MAP_RIGHT && [ring, ...circles].every(isBeside);
      };
      names.replaceChildren(...wayPlaces(panel, rows, pays.gain, isFree).map(({ name, ratio, alpha }) => svg("text", { x: toX(ratio), y: toY(alpha) + 4, "text-anchor": "middle", class: "ll-way-name" }, name)));
    },
  };
}

// How far the cost model was off at the place where it can be checked.
export function errorWords(error) {
  if (error === null) return "";
  const percent = Math.round(100 * Math.abs(error));
  return `; it was ${percent ? `${percent} % too ${error > 0 ? "high" : "low"}` : "right"} where measured`;
}

const modelSays = (phi, error) => (error === null ? "" : `; the map: ${fixed(phi * (1 + error), 2)}`);

// Circles stay whole inside the axes.
const inside = (value, low, high) => Math.min(high - CIRCLE - 1, Math.max(low + CIRCLE + 1, value));

function createPanel(panel, whole, pays, move) {
  const { size, toX, toY, toPlace } = scalesOf(pays);
  const drawing = svg("svg", { viewBox: `0 0 ${MAP_WIDTH} ${MAP_HEIGHT}`, class: "ll-map" });
  const image = svg("image", { x: MAP_LEFT, y: MAP_TOP, ...size, preserveAspectRatio: "none" });
  const [border, corrected] = [svg("path", { class: "ll-border" }), svg("path", { class: "ll-border ll-corrected" })];
  const circles = panel.points.map(({ alpha }) => [placeOfRatio(panel.ratio, pays), placeOfAlpha(alpha, pays)]);
  const measured = panel.points.map(({ task, phi, n }, at) => {
    const cx = inside(toX(circles[at][0]), MAP_LEFT, MAP_WIDTH - MAP_RIGHT);
    const cy = inside(toY(circles[at][1]), MAP_TOP, MAP_HEIGHT - MAP_BOTTOM);
    const title = svg("title", {}, `measured, ${task}: φ ${fixed(phi, 2)} (n = ${n})`);
    const circle = (name, fill) => svg("circle", { cx, cy, r: CIRCLE, class: name, fill });
    // What shines through it is the page, and not the map.
    return svg("g", {}, circle("ll-under", ""), circle("ll-measured", inCss(colourOf(phi, pays.colours))), title);
  });
  const ways = createWays(panel, pays, { toX, toY }, circles);
  const handle = createHandle(drawing, panel, pays, toPlace, move);
  drawing.append(image, border, corrected, ...ways.nodes, ...axisNodes(pays, toX, toY), ...measured, handle);
  const [value, way] = [el("b", { class: "ll-phi" }), el("span", { class: "ll-way" })];
  const found = el("span", { class: "ll-found" });
  const node = el("figure", { class: "ll-panel", "data-method": panel.method },
    el("figcaption", {}, el("b", {}, panel.method), el("span", {}, "φ ", value), way, found), drawing);
  let painted = "";
  const paint = (rows) => {
    image.setAttribute("href", pictureOf(panel[rows], pays.colours));
    border.setAttribute("d", borderPath(panel[rows], pays.gain, toX, toY));
    // The error was measured with the costs measured here.
    const isKnown = rows === "here" && panel.error !== null;
    corrected.setAttribute("d", isKnown ? borderPath(panel[rows], pays.gain * (1 + panel.error), toX, toY) : "");
    if (panel.beside) ways.drawBorder(rows);
    painted = rows;
  };
  return {
    node,
    hasBorder: ways.hasBorder,
    draw({ ratio, alpha }, rows) {
      if (painted !== rows) paint(rows);
      if (panel.beside) ways.drawNames([ratio, alpha], rows);
      // What was measured stands where it was measured.
      const isHere = whole !== null && rows === "here" && ratio === pays.start.ratio && alpha === pays.start.alpha;
      const phi = isHere ? whole.phi : panel[rows][alpha][ratio];
      const told = panel.beside ? (panel.beside[rows][alpha][ratio] > 0 ? "parallel" : "sequential") : "";
      const origin = isHere ? "measured" : "estimate";
      // Each method has costs of its own there.
      const x = toX(isHere ? placeOfRatio(panel.ratio, pays) : ratio);
      handle.setAttribute("transform", `translate(${x} ${toY(alpha)})`);
      handle.setAttribute("aria-valuenow", pays.alphas[alpha]);
      handle.setAttribute("aria-valuetext", `α ${fixed(pays.alphas[alpha], 2)}, ${stepsAt(ratio, pays)} draft steps per target pass: φ ${fixed(phi, 2)}, ${origin}${told && `, drafting ${told}`}`);
      setText(value, fixed(phi, 2));
      const sure = isHere && whole.noise ? `± ${fixed(whole.noise, 2)}, ` : "";
      setText(found, `${sure}${origin}${isHere ? modelSays(phi, panel.error) : errorWords(panel.error)}`);
      setText(way, told);
    },
  };
}

const ROWS = { here: "extra tokens cost as measured", free: "extra tokens cost nothing (a large GPU)" };

const NOTE = "Drag the ring, or move it with the arrow keys. α: how often the draft's best token is right. Draft steps per target pass: how many of them take as long as one forward pass of the target, each model alone at work. The rings start at what was measured over all tasks, DuoDecoding's at the ratio on its own processors. An estimate has one α for all texts and one sequence; it leaves out text lookup. “Extra tokens cost nothing” also leaves out the time between passes.";

function legendNodes({ gain, colours }) {
  const largest = colours.at(-1)[0];
  const stops = colours.map(([phi, colour]) => `${inCss(colour)} ${(100 * phi) / largest}%`);
  const ticks = Array.from({ length: largest + 1 }, (_, phi) => el("span", {}, `${phi}`));
  const scale = el("span", { class: "ll-scale", style: `--colours: ${stops}` }, el("i"), ...ticks);
  const sign = (shape) => svg("svg", { viewBox: "0 0 24 20", width: 24, height: 20, "aria-hidden": "true" }, shape);
  const line = (name) => sign(svg("path", { d: "M1 10H23", class: `ll-border ${name}` }));
  const circle = (r) => svg("circle", { r });
  const ring = svg("g", { class: "ll-ring", transform: "translate(12 10)" }, circle(8), circle(2.5));
  const percent = `${Math.round(100 * (gain - 1))} %`;
  const item = (name, drawn, words) => el("li", { "data-key": name }, drawn, words);
  return [
    item("phi", scale, "speed-up φ over vanilla: orange loses, blue gains"), item("ring", sign(ring), "your point"),
    item("measured", sign(svg("circle", { cx: 12, cy: 10, r: CIRCLE, class: "ll-measured", fill: "none" })), "measured here, task by task"),
    item("gain", line(""), `line: ${percent} faster than vanilla`), item("corrected", line("ll-corrected"), "that line, corrected by the map's error at the ring"), item("ways", line("ll-ways"), `parallel is ${percent} faster than sequential`),
  ];
}

const nearest = (place, values) => Math.min(values.length - 1, Math.max(0, Math.round(place)));
export const onMap = ({ ratio, alpha }, { ratios, alphas }) => (
  { ratio: nearest(ratio, ratios), alpha: nearest(alpha, alphas) }
);

const LARGE = "No target of 7 billion parameters has been measured with duoviz on a GPU. To measure one of that shape: ";
const COMMAND = "python -m duoviz bench --pair embedded-as-llama-2-7b --each 2 --variants --out my-results";

// rows: as `measured` in `duoviz/web/pages/live.py` gives them; ways: sentences about drafting in turn or
// in parallel.
export function createHardware(rows, { ways, gain }) {
  const names = ["Where", "Target", "Vanilla, tokens/s", "Draft steps per target pass", "φ of DuoDecoding", "φ of SpS", "Which of both pays"];
  const cells = (tag, row) => el("tr", {}, ...row.map((cell, place) => el(tag, { "data-name": names[place] }, cell)));
  const table = el("table", { class: "ll-hardware" }, el("caption", {}, "Speed-up φ over vanilla by hardware: ours in float32 where nothing else stands, the paper's in bfloat16; one answer at a time (batch 1)"),
    el("thead", {}, cells("th", names)),
    el("tbody", {}, ...rows.map((row) => cells("td", row))));
  const gpu = rows.find(([where]) => where.includes("H100"));
  const small = gpu ? `On the H100 a pass of this small target takes ${(1000 / gpu[2]).toFixed(1)} ms, far longer than reading its weights would: its row says little about large targets. ` : "";
  const rule = `Which of both pays: the one with the higher φ; “neither” where both are below ${fixed(gain, 2)}; “no difference”: within noise.`;
  const notes = [...ways.map((sentence) => el("p", { class: "ll-ways-told" }, sentence)), el("p", { class: "ll-note" }, rule)];
  return el("section", { "aria-label": "By hardware" }, table, el("details", {}, el("summary", {}, "Which is faster, in turn or in parallel?"), ...notes), el("p", { class: "ll-note" }, small, LARGE, el("code", {}, COMMAND)));
}

// pays, speeds: as `first_view` in `duoviz/lab/report.py` gives them; chosen: what the reader chose before, or now.
export function createMap({ pays, speeds }, chosen) {
  const place = () => (chosen.place ? onMap(chosen.place, pays) : pays.start);
  const move = (change) => {
    chosen.place = onMap(change(place()), pays);
    draw();
  };
  // {phi, noise} over all tasks; null where it was not measured.
  const measuredPhi = (name) => speeds.lines.find(({ method }) => method === name)?.here[speeds.tasks[0]] ?? null;
  const panels = pays.panels.map((panel) => createPanel(panel, measuredPhi(panel.method), pays, move));
  const where = el("p", { class: "ll-where", "aria-live": "polite" });
  const beyond = el("p", { class: "ll-beyond" });
  const choice = el("select", { class: "ll-select", "aria-label": "What an extra token costs" }, ...Object.entries(ROWS).map(([value, words]) => el("option", { value }, words)));
  choice.value = chosen.rows ?? "here";
  choice.addEventListener("change", () => {
    chosen.rows = choice.value;
    draw();
  });
  const legend = el("ul", { class: "ll-keys" }, ...legendNodes(pays));
  const draw = () => {
    const { ratio, alpha } = place();
    panels.forEach((panel) => panel.draw({ ratio, alpha }, choice.value));
    setText(where, `Your point: α = ${fixed(pays.alphas[alpha], 2)}, draft steps per target pass = ${stepsAt(ratio, pays)}. Elsewhere the map estimates each φ.`);
    setText(beyond, pays.beyond[choice.value]);
    const drawn = { ways: panels.some((panel) => panel.hasBorder()), corrected: choice.value === "here" };
    for (const item of legend.children) item.hidden = drawn[item.dataset.key] === false;
  };
  draw();
  return el("section", { class: "ll-pays", "aria-label": "When does it pay?" },
    el("div", { class: "ll-head" }, el("h3", {}, "When does it pay?"), choice),
    ...pays.why.map((sentence) => el("p", {}, sentence)), legend, el("div", { class: "ll-panels" }, ...panels.map((panel) => panel.node)), beyond, where, el("p", { class: "ll-note" }, NOTE));
}
