// What the Lab's tab shows of results: the map, Table 1 as bars, and the other parts to be opened.

import { el } from "../visualizer/dom.js";
import { createBars } from "./bars.js";
import { createMap } from "./map.js";
import { createThumbnails } from "./thumbnails.js";

// open(name): a part is wanted, "" for none. Returns what shows a value: {overview, parts, opened}, each null where it is
// not known yet; what is shown already stays as it is.
export function mountLab(root, open) {
  const top = el("div", { class: "ll-top" });
  const row = el("div");
  root.replaceChildren(el("div", { class: "ll" }, top, row));
  let told = null;
  return ({ overview, parts, opened }) => {
    const text = JSON.stringify(overview);
    const isOther = text !== told;
    told = text;
    if (isOther) {
      top.replaceChildren(...(overview ? [createMap(overview.pays), createBars(overview.speeds)] : []));
    }
    if (parts || isOther) row.replaceChildren(...(parts ? [createThumbnails(parts, opened, open)] : []));
  };
}
