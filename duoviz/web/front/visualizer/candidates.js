// The draft's candidates for the next token, with θ as a line.

import { el, setText } from "./dom.js";
import { count, fixed, known, quote, tokenLabel } from "./words.js";
import { aboutOf } from "./methods.js";
import { MEANINGS, setSentence, term } from "./meanings.js";

const ONE_STEP = "No θ: it needs two draft steps, and only one was made.";

const begun = ({ sequences }) => `k = ${known(sequences) ? count(sequences, "sequence") : "–"}`;

export function candidateWords(iteration, candidates, header) {
  if (!candidates.length) return "Nothing was drafted in this iteration.";
  if (!known(iteration.theta)) return aboutOf(header).parallel ? ONE_STEP : "";
  const over = candidates.filter((candidate) => candidate.over).length;
  const isSet = (header?.settings?.sequences ?? "dynamic") !== "dynamic";
  if (!over && !isSet) return `none over the threshold, so only the most probable starts a sequence; ${begun(iteration)}`;
  // No more than these are looked at. The budget, or a model that can take no tree, may allow fewer.
  const many = over === candidates.length ? `at least ${over}` : over;
  return `${many} over the threshold ●${over === iteration.sequences && !isSet ? " →" : ";"} ${begun(iteration)}${isSet ? ", as set" : ""}`;
}

function candidateRow({ text, p, over, id }, theta) {
  const isOver = known(theta) && over;
  const bar = el("span", { class: "dv-candidate-bar" });
  bar.style.width = `${100 * Math.min(1, Math.max(0, p))}%`;
  const label = el("span", { class: "dv-candidate-label" }, `${isOver ? "●" : " "} ${tokenLabel(text)}`);
  const side = known(theta) ? ` · ${over ? "over" : "not over"} the threshold` : "";
  return el("li", { class: "dv-candidate", "data-over": isOver, title: `${quote(text)} · id ${id} · q ${fixed(p, 4)}${side}` },
    label, el("span", { class: "dv-candidate-track" }, bar), el("span", { class: "dv-candidate-value" }, fixed(p, 4)));
}

export function createCandidates() {
  const list = el("ol");
  const label = term("", MEANINGS.theta[1]);
  label.classList.add("dv-theta-label");
  const line = el("div", { class: "dv-theta" }, el("span", { class: "dv-theta-line" }, label));
  const note = el("p", { class: "dv-note" });
  const chart = el("div", { class: "dv-candidate-chart" }, line, list);
  const node = el("div", { class: "dv-candidates" }, el("h4", { class: "dv-subheading" }, "The draft's candidates for the next token"), chart, note);
  return {
    node,
    // told: how much of it is known yet, see moments.js.
    draw(iteration, header, told) {
      const candidates = told ? iteration?.candidates ?? [] : [];
      const theta = candidates.length && told > 1 ? iteration.theta : null;
      list.replaceChildren(...candidates.map((each) => candidateRow(each, theta)));
      line.hidden = !known(theta);
      line.firstChild.style.left = `${100 * Math.min(1, theta ?? 0)}%`;
      setText(label, `θ ${fixed(theta, 4)}`);
      setSentence(note, iteration && told > 1 ? candidateWords(iteration, candidates, header) : "");
    },
  };
}
