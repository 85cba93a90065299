// A lesson's text as nodes, set as text, and the glossary that explains its terms.

import { el } from "../visualizer/dom.js";
import { visible } from "../visualizer/words.js";

export function linkNode(text, to, attributes = {}) {
  if (to.startsWith("https:")) return el("a", { href: to, target: "_blank", rel: "noopener" }, text);
  const node = el("a", { href: to, ...attributes }, text);
  // A browser tells of a fragment only when it changes; the reader may follow the same link twice.
  node.addEventListener("click", () => {
    if (location.hash === node.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  return node;
}

// glossary: gives the buttons of its terms; null where no button may stand.
export function spanNodes(spans, glossary) {
  return spans.map(({ kind, text, to }) => {
    if (kind === "term") return glossary ? glossary.button(text, to) : text;
    if (kind === "value") return el("span", { class: "dl-value" }, visible(text));
    if (kind === "link") return linkNode(text, to);
    // Any other kind is a tag: "strong", "em" or "code".
    return kind === "text" ? text : el(kind, {}, text);
  });
}

export function blockNodes(blocks, glossary) {
  return blocks.map(({ kind, spans, items }) => {
    if (kind === "paragraph") return el("p", {}, ...spanNodes(spans, glossary));
    return el(kind === "list" ? "ul" : "ol", {}, ...items.map((item) => el("li", {}, ...spanNodes(item, glossary))));
  });
}

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
