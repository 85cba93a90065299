// What to watch in the Live tab: it stands at its top after "Try it live", until the reader comes back or closes it.

import { button, el } from "../visualizer/dom.js";
import { linkNode } from "./spans.js";

// It lies outside of the course, whose styles do not reach it there.
const BOX = "display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding: 4px 16px; border: 1.5px solid var(--color-accent); border-radius: 10px;"
  + " background: var(--background-fill-secondary); color: var(--body-text-color); font-size: 14px; line-height: 1.4;";
const PRESSED = "flex: none; padding: 4px 10px; border: 1px solid var(--border-color-primary); border-radius: 6px; background: none;"
  + " color: inherit; font-size: 13px; text-decoration: none; cursor: pointer;";

let shown = null;

// root: the course, where the reader comes back to; back: the link that leads there.
export function tellWhatToWatch(root, words, back) {
  shown?.remove();
  const close = button({ class: "dv-button dv-button-text", style: PRESSED }, () => shown.remove(), "Close");
  const node = el("div", { class: "dl-watch", role: "status", style: BOX }, el("span", {}, el("b", {}, "Watch: "), words),
    linkNode("Back to the lesson", back, { style: PRESSED }), close);
  document.getElementById("ask").after(node);
  shown = node;
  let hasLeft = false;
  const observer = new IntersectionObserver((entries) => {
    const isBack = entries.at(-1).isIntersecting;
    hasLeft ||= !isBack;
    if (!hasLeft || !isBack) return;
    node.remove();
    observer.disconnect();
  });
  observer.observe(root);
}
