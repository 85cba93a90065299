// The bar with the buttons, what became of the last one pressed, and the link.

import { el, setText, textButton } from "../visualizer/dom.js";

// act: called with "copylink", "openfile", or when the page has a link to follow, "openlink": as it opens, and later too.
export function createBar(root, act) {
  const message = el("p", { class: "dv-share-message", role: "status" });
  const link = el("input", { class: "dv-share-link", type: "text", readonly: "", hidden: "", "aria-label": "Link to this view" });
  root.replaceChildren(
    el("div", { class: "dv-share-buttons" }, textButton("Copy link", () => act("copylink")), textButton("Open settings file…", () => act("openfile"))),
    message, link);
  window.addEventListener("hashchange", () => act("openlink"));
  act("openlink");
  return (told) => {
    setText(message, told.message);
    link.hidden = !told.link;
    link.value = told.link ?? "";
    if (!told.link) return;
    link.focus();
    link.select();
  };
}
