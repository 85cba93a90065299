// The bar with the buttons, what became of the last one pressed, and the link.

import { el, iconButton, setText, textButton } from "../visualizer/dom.js";
import { copied, REFUSED } from "../visualizer/export.js";
import { closeDrawers, markEmptyPrompts } from "./form.js";
import { createPresentButtons, chooseTheme, restoreTheme, themeShown } from "./look.js";

const BAR_ICONS = {
  link: "M6.5 9.5a3 3 0 0 0 4.3 0l2.3-2.3a3 3 0 0 0-4.3-4.3L7.7 4l1 1 1.1-1.1a1.6 1.6 0 0 1 2.3 2.3L9.8 8.5a1.6 1.6 0 0 1-2.3 0zM9.5 6.5a3 3 0 0 0-4.3 0L2.9 8.8a3 3 0 0 0 4.3 4.3L8.3 12l-1-1-1.1 1.1a1.6 1.6 0 0 1-2.3-2.3l2.3-2.3a1.6 1.6 0 0 1 2.3 0z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 1 0-9.8z",
};

// The message lies over the page's end, and leaves when something else is pressed.
function createToast() {
  const message = el("p", { class: "dv-share-message", role: "status" });
  const link = el("input", { class: "dv-share-link", type: "text", readonly: "", hidden: "" });
  const close = iconButton("Close", "M4.2 3 8 6.8 11.8 3 13 4.2 9.2 8l3.8 3.8-1.2 1.2L8 9.2 4.2 13 3 11.8 6.8 8 3 4.2z", () => { node.hidden = true; });
  const embed = textButton("Copy as a frame (HTML)", async () => {
    [link.value, link.ariaLabel] = [frame, "Frame with this view"];
    select();
    setText(message, await copied(frame) ? "Frame copied (also shown here). Paste it into your page's HTML." : REFUSED);
  });
  const node = el("div", { class: "dv-toast", hidden: "" }, message, close, link, embed);
  let frame = "";
  // A frame's parent would be scrolled to it.
  const select = () => {
    link.focus({ preventScroll: true });
    link.select();
  };
  document.addEventListener("pointerdown", ({ target }) => { node.hidden ||= !node.contains(target); });
  return {
    node,
    tell(told) {
      setText(message, told.message);
      node.hidden = !told.message;
      link.hidden = embed.hidden = !told.link;
      [link.value, link.ariaLabel, frame] = [told.link ?? "", "Link to this view", told.frame];
      if (told.link) select();
    },
  };
}

// act: called with "copylink", or when the page has a link to follow, "openlink": as it opens, and later.
export function createBar(root, act) {
  const toast = createToast();
  restoreTheme();
  root.replaceChildren(
    el("div", { class: "dv-share-buttons" },
      iconButton("Copy link", BAR_ICONS.link, () => act("copylink")),
      iconButton("Light or dark", BAR_ICONS.theme, () => chooseTheme(themeShown() === "dark" ? "light" : "dark")),
      ...createPresentButtons()),
    toast.node);
  closeDrawers();
  markEmptyPrompts();
  window.addEventListener("hashchange", () => act("openlink"));
  act("openlink");
  return toast.tell;
}
