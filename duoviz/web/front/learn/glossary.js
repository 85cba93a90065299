// The glossary: a button wherever a term stands, which opens the sentence that says what it means.

import { el } from "../visualizer/dom.js";
import { spanNodes } from "./spans.js";

// terms: [{name, spans}].
export function createGlossary(terms) {
  const meanings = new Map(terms.map(({ name, spans }) => [name, spans]));
  let open = null;
  const close = () => {
    open?.button.setAttribute("aria-expanded", "false");
    open?.note.remove();
    open = null;
  };
  const toggle = (button, name) => {
    const again = open?.button === button;
    close();
    if (again) return;
    const note = el("div", { class: "dl-definition", role: "note" }, el("b", {}, name), ": ", ...spanNodes(meanings.get(name), null));
    const block = button.closest("p, li, div");
    if (block.matches("p")) block.after(note);
    else block.append(note);
    button.setAttribute("aria-expanded", "true");
    open = { button, note };
  };
  const button = (text, name) => {
    // A real button would stand apart from the comma after it.
    const node = el("span", { class: "dl-term", role: "button", tabindex: "0", "aria-expanded": "false", title: "What this means" }, text);
    node.addEventListener("click", () => toggle(node, name));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(node, name);
    });
    return node;
  };
  const entries = terms.flatMap(({ name, spans }) => [el("dt", {}, name), el("dd", {}, ...spanNodes(spans, null))]);
  return { button, entries };
}
