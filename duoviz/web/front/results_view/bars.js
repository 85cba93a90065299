// Table 1 as bars: each method's speed-up over vanilla as measured here, beside the paper's values.

import { el } from "../visualizer/dom.js";
import { fixed } from "../visualizer/words.js";

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

// The colours of all lanes, each as a stripe.
export const stripes = (lines) => (
  lines.map(({ colour }, place) => `${colour} ${(100 * place) / lines.length}% ${(100 * (place + 1)) / lines.length}%`).join());

// speeds: as `duoviz/lab/overview.py` gives them; chosen: what the reader chose before, and chooses now.
export function createBars({ tasks, papers, base, lines }, chosen) {
  const body = el("tbody");
  const choice = el("select", { class: "ll-select", "aria-label": "Task" }, ...tasks.map((task) => el("option", { value: task }, task)));
  const note = el("p", { class: "ll-note" });
  const draw = () => {
    const task = choice.value;
    const longest = longestBar({ papers, lines }, task);
    body.style.setProperty("--one", 1 / longest);
    body.replaceChildren(...lines.map((line) => lineNodes(line, task, papers, longest)));
    note.textContent = `φ is the speed-up over vanilla (the upright line: ${fixed(base[task], 1)} tokens/s here). The paper's target ran on a GPU.`;
  };
  if (tasks.includes(chosen.task)) choice.value = chosen.task;
  choice.addEventListener("change", () => {
    chosen.task = choice.value;
    draw();
  });
  draw();
  const key = (kind, words) => el("li", {}, el("span", { class: "ll-bar ll-key", "data-kind": kind, style: `--colours: ${stripes(lines)}` }), words);
  return el("section", { class: "ll-speeds", "aria-label": "Table 1: how much faster" },
    el("div", { class: "ll-head" }, el("h3", {}, "Table 1: how much faster?"), choice),
    el("ul", { class: "ll-keys" }, key("here", "here, each in its colour"), ...papers.map((model, place) => key(`paper-${place}`, `the paper, ${model}`))),
    el("table", { class: "ll-bars" }, body), note);
}
