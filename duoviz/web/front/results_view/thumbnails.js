// The other tables and figures: a row of small pictures, each of which opens its part below.

import { el } from "../visualizer/dom.js";

// parts: [{name, title, picture}], of which the pictures are ours; open: told the name, or "" where all are closed.
export function createThumbnails(parts, opened, open) {
  const buttons = parts.map(({ name, title, picture }) => {
    const image = el("span", { class: "ll-picture" });
    image.innerHTML = picture;
    const button = el("button", { type: "button", class: "ll-thumbnail", "data-part": name, "aria-pressed": name === opened }, image, el("span", {}, title));
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") === "true";
      buttons.forEach((each) => each.setAttribute("aria-pressed", each === button && !pressed));
      open(pressed ? "" : name);
    });
    return button;
  });
  return el("div", { class: "ll-thumbnails", role: "group", "aria-label": "Tables and figures" }, ...buttons);
}
