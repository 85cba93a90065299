// The other tables and figures: a row of small pictures, each of which opens its part below.

import { button, el } from "../visualizer/dom.js";

// parts: [{name, title, picture}], of which the pictures are ours; open: told the name, or "" where all are closed.
export function createThumbnails(parts, opened, open) {
  const buttons = parts.map(({ name, title, picture }) => {
    const image = el("span", { class: "ll-picture" });
    image.innerHTML = picture;
    const attributes = { class: "ll-thumbnail", "data-part": name, "aria-pressed": name === opened };
    return button(attributes, ({ currentTarget }) => {
      const pressed = currentTarget.getAttribute("aria-pressed") === "true";
      buttons.forEach((each) => each.setAttribute("aria-pressed", each === currentTarget && !pressed));
      open(pressed ? "" : name);
    }, image, el("span", {}, title));
  });
  return el("div", { class: "ll-thumbnails", role: "group", "aria-label": "Tables and figures" }, ...buttons);
}
