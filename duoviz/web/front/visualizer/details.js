// The fold "Details": one choice for all visualizers of a page, which stands at the page's root and is remembered.

import { el, textButton } from "./dom.js";
import { remember, remembered } from "./remembered.js";

const KEPT = "duoviz details";
const MARK = "data-details";
const SAYS = "all numbers, k and θ over the iterations, the small model's candidates";

export const areDetailsOpen = () => document.documentElement.hasAttribute(MARK);

export const openDetails = (isOpen) => document.documentElement.toggleAttribute(MARK, isOpen);

// Folded, what it holds is laid out all the same: pictures are made of it.
export function createDetails() {
  openDetails(areDetailsOpen() || remembered(KEPT) === "open");
  const button = textButton("Details", () => {
    openDetails(!areDetailsOpen());
    remember(KEPT, areDetailsOpen() ? "open" : "folded");
  });
  const tell = () => button.setAttribute("aria-expanded", areDetailsOpen());
  tell();
  // A link opens it too, and another visualizer of the page.
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: [MARK] });
  return el("div", { class: "dv-fold" }, button, el("span", { class: "dv-note" }, SAYS));
}
