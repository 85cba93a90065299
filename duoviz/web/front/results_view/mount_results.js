// What the Lab's tab shows of results: the map, Table 1 as bars, and the other parts to be opened.

import { button, el } from "../visualizer/dom.js";
import { fixed, known } from "../visualizer/words.js";
import { createHardware, createMap } from "./map.js";

const bar = (phi, longest, kind, label, colour) => {
  const filled = el("span", { class: "ll-bar", "data-kind": kind, style: `--share: ${phi / longest}; --colour: ${colour}` });
  return el("span", { class: "ll-bar-line", title: `${label}: φ ${fixed(phi, 2)}` }, filled, el("span", { class: "ll-bar-value" }, fixed(phi, 2)));
};

function lineNodes({ method, colour, here, paper }, task, papers, longest) {
  const bars = [];
  if (here[task]) bars.push(bar(here[task].phi, longest, "here", `${method} here, ${task}, n = ${here[task].n}`, colour));
  papers.forEach((model, place) => {
    if (paper[model][task]) bars.push(bar(paper[model][task], longest, `paper-${place}`, `${method} in the paper, ${model}, ${task}`, colour));
  });
  return el("tr", { "data-method": method }, el("th", { scope: "row" }, method), el("td", {}, ...bars));
}

// The φ that fills the whole width: a little more than the largest of the task, and no less than vanilla needs.
export function longestBar({ papers, lines }, task) {
  const phis = lines.flatMap(({ here, paper }) => (
    [here[task]?.phi ?? 0, ...papers.map((model) => paper[model][task] ?? 0)]
  ));
  return 1.12 * Math.max(1, ...phis);
}

export const stripes = (lines) => (
  lines.map(({ colour }, place) => `${colour} ${(100 * place) / lines.length}% ${(100 * (place + 1)) / lines.length}%`).join());

// speeds: as `speed_bars` in duoviz/lab/tables.py gives them; chosen: what the reader chose before, and chooses now.
function createBars({ tasks, papers, base, lines, fastest, asked }, chosen) {
  const body = el("tbody");
  const choice = el("select", { class: "ll-select", "aria-label": "Task" }, ...tasks.map((task) => el("option", { value: task }, task)));
  const note = el("p", { class: "ll-note" });
  const noise = lines.some(({ here }) => known(here[tasks[0]]?.noise)) ? " ± is two standard errors over the questions, with the machine's noise during the run." : "";
  const draw = () => {
    const task = choice.value;
    const longest = longestBar({ papers, lines }, task);
    body.style.setProperty("--one", 1 / longest);
    body.replaceChildren(...lines.map((line) => lineNodes(line, task, papers, longest)));
    const found = task === tasks[0] ? fastest.map((sentence) => `${sentence} `).join("") : "";
    note.textContent = `${found}φ is the speed-up over vanilla, the large model alone (the upright line: ${fixed(base[task], 1)} tokens/s here). The paper's target ran on a GPU. ${asked}${noise}`;
  };
  if (tasks.includes(chosen.task)) choice.value = chosen.task;
  choice.addEventListener("change", () => {
    chosen.task = choice.value;
    draw();
  });
  draw();
  const key = (kind, words) => el("li", {}, el("span", { class: "ll-bar ll-key", "data-kind": kind, style: `--colours: ${stripes(lines)}` }), words);
  return el("section", { class: "ll-speeds", "aria-label": "How much faster" },
    el("div", { class: "ll-head" }, el("h3", {}, "How much faster?"), choice),
    el("ul", { class: "ll-keys" }, key("here", "measured here"), ...papers.map((model, place) => key(`paper-${place}`, `the paper, ${model}`))),
    el("table", { class: "ll-bars" }, body), note);
}

// overview: {pays, speeds}, as `first_view` in `duoviz/lab/report.py` gives them, and elsewhere, the rows by hardware.
function firstView(overview, chosen) {
  const sections = [createBars(overview.speeds, chosen), createMap(overview, chosen)];
  return overview.elsewhere.length ? [...sections, createHardware(overview.elsewhere, overview.pays)] : sections;
}

// parts: [{name, title, picture}], of which the pictures are ours; open: told the name, or "" where all are closed.
function createThumbnails(parts, opened, open) {
  const buttons = parts.map(({ name, title, picture }) => {
    const image = el("span", { class: "ll-picture" });
    image.innerHTML = picture;
    const attributes = { class: "ll-thumbnail", "data-part": name, "aria-pressed": name === opened };
    return button(attributes, ({ currentTarget }) => {
      const pressed = currentTarget.getAttribute("aria-pressed") === "true";
      buttons.forEach((each) => each.setAttribute("aria-pressed", each === currentTarget && !pressed));
      open(pressed ? "" : name);
    }, image, el("span", {}, title));
  });
  return el("div", { class: "ll-thumbnails", role: "group", "aria-label": "Tables and figures" }, ...buttons);
}

// open(name): a part is wanted, "" for none. chosen: the reader's point, cost of a row and task, which outlive the
// results: while a run goes on others come every moment. Returns what shows a value: {overview, parts, opened}, each
// null where it is not known yet; what is shown already stays as it is.
export function mountResults(root, open, chosen) {
  const top = el("div", { class: "ll-top" });
  const row = el("div");
  root.replaceChildren(el("div", { class: "ll" }, top, row));
  let told = null;
  const draw = ({ overview, parts, opened }) => {
    const text = JSON.stringify(overview);
    const isOther = text !== told;
    told = text;
    if (isOther) top.replaceChildren(...(overview ? firstView(overview, chosen) : []));
    if (parts || isOther) row.replaceChildren(...(parts ? [createThumbnails(parts, opened, open)] : []));
  };
  return (value) => {
    const controls = () => [...root.querySelectorAll(".ll-handle, .ll-select, .ll-thumbnail")];
    const focused = controls().indexOf(document.activeElement);
    draw(value);
    controls()[focused]?.focus({ preventScroll: true });
  };
}
