// A lesson's text as nodes. Whatever it says is set as text.

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
