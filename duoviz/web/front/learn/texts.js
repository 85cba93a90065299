// A lesson's text, which comes as HTML, and the glossary that explains its terms.

import { el } from "../visualizer/dom.js";

// A browser tells of a fragment only when it changes; the reader may follow the same link twice.
function ledAgain(link) {
  link.addEventListener("click", () => {
    if (location.hash === link.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  return link;
}

export const linkNode = (text, to, attributes = {}) => ledAgain(el("a", { href: to, ...attributes }, text));

// html: made by the lessons' reader, which lets nothing through but its own tags.
export function htmlNode(tag, html) {
  const node = el(tag);
  node.innerHTML = html;
  node.querySelectorAll('a[href^="#"]').forEach(ledAgain);
  return node;
}

export const plainText = (html) => htmlNode("div", html).textContent.trim();

export function createGlossary(terms) {
  const meanings = new Map(terms.map(({ name, html }) => [name, html]));
  let open = null;
  const close = () => {
    open?.button.setAttribute("aria-expanded", "false");
    open?.note.remove();
    open = null;
  };
  const toggle = (button) => {
    const again = open?.button === button;
    close();
    if (again) return;
    const { term } = button.dataset;
    const note = el("div", { class: "dl-definition", role: "note" }, el("b", {}, term), ": ", htmlNode("span", meanings.get(term)));
    const block = button.closest("p, li, div");
    if (block.matches("p")) block.after(note);
    else block.append(note);
    button.setAttribute("aria-expanded", "true");
    open = { button, note };
  };
  const activate = (button) => {
    button.addEventListener("click", () => toggle(button));
    button.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(button);
    });
  };
  const entries = terms.flatMap(({ name, html }) => [el("dt", {}, name), htmlNode("dd", html)]);
  // A text whose terms are explained where they stand; of several blocks, each of them.
  const text = (tag, html) => {
    const node = htmlNode(tag, html);
    node.querySelectorAll(".dl-term").forEach(activate);
    return node;
  };
  return { entries, text, blocks: (html) => [...text("div", html).children] };
}
