// What the Lab's tab shows of results: the map, Table 1 as bars, and the other parts to be opened.

import { el } from "../visualizer/dom.js";
import { createBars } from "./bars.js";
import { createMap } from "./map.js";
import { createThumbnails } from "./thumbnails.js";

const CONTROLS = ".ll-handle, .ll-select, .ll-thumbnail";

// What was focused is so again when all is drawn anew.
function keepingFocus(root, draw) {
  const controls = () => [...root.querySelectorAll(CONTROLS)];
  const place = controls().indexOf(document.activeElement);
  draw();
  controls()[place]?.focus({ preventScroll: true });
}

// open(name): a part is wanted, "" for none. Returns what shows a value: {overview, parts, opened}, each null where it
// is not known yet; what is shown already stays as it is.
export function mountResults(root, open) {
  const top = el("div", { class: "ll-top" });
  const row = el("div");
  root.replaceChildren(el("div", { class: "ll" }, top, row));
  // The reader's point, cost of a row and task outlive the results: while a run goes on others come every moment.
  const chosen = {};
  let told = null;
  const draw = ({ overview, parts, opened }) => {
    const text = JSON.stringify(overview);
    const isOther = text !== told;
    told = text;
    if (isOther) {
      top.replaceChildren(...(overview ? [createMap(overview, chosen), createBars(overview.speeds, chosen)] : []));
    }
    if (parts || isOther) row.replaceChildren(...(parts ? [createThumbnails(parts, opened, open)] : []));
  };
  return (value) => keepingFocus(root, () => draw(value));
}
