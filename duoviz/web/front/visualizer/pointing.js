// The facts of the token that is pointed at in the tree, by a pointer, a finger or keys.

import { el, setText } from "./dom.js";

const pointHint = () => (matchMedia("(pointer: coarse)").matches ? "Tap a token for its probability."
  : "Hover over a token for its probability (keys: W, S).");

export function createPointing(drawing) {
  const node = el("p", { class: "dv-note dv-facts", role: "status" });
  let groups = [], at = -1;
  const point = (index) => {
    groups[at]?.classList.remove("dv-pointed");
    at = index;
    groups[at]?.classList.add("dv-pointed");
    setText(node, groups[at]?.querySelector("title").textContent.replaceAll("\n", " · ") ?? pointHint());
  };
  drawing.addEventListener("pointerover", (event) => {
    const over = groups.indexOf(event.target.closest(".dv-node"));
    if (over >= 0) point(over);
  });
  return {
    node,
    begin() {
      groups = [...drawing.querySelectorAll(".dv-node")];
      point(-1);
    },
    // To the token so many places on; the group that is it.
    goTo(by) {
      point(Math.min(groups.length - 1, Math.max(0, at + by)));
      return groups[at];
    },
  };
}
