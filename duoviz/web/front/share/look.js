// How the page looks: light or dark, and presented. present.css says how it looks then.

import { iconButton, isPresented } from "../visualizer/dom.js";
import { isBrowsers, targetOf } from "../visualizer/keys.js";
import { remember, remembered } from "../visualizer/remembered.js";

const THEME_KEPT = "duoviz theme";
export const THEMES = ["light", "dark"];

export const themeShown = () => (document.body.classList.contains("dark") ? "dark" : "light");

// The theme shown, where the visitor chose it; else undefined.
export function chosenTheme() {
  const kept = remembered(THEME_KEPT);
  return kept === themeShown() ? kept : undefined;
}

export const setTheme = (theme) => document.body.classList.toggle("dark", theme === "dark");

export function chooseTheme(theme) {
  setTheme(theme);
  remember(THEME_KEPT, theme);
}

export function restoreTheme() {
  const kept = remembered(THEME_KEPT);
  if (THEMES.includes(kept)) setTheme(kept);
}

const PRESENT_ICONS = {
  begin: "M1.5 3h13v9h-13zm1.4 1.4v6.2h10.2V4.4zM5 13.2h6v1.3H5z",
  end: "M2 6.5h4.5V2H5v3H2zM9.5 2v4.5H14V5h-3V2zM2 9.5V11h3v3h1.5V9.5zm7.5 0V14H11v-3h3V9.5z",
};
const TYPED = "textarea, [contenteditable]:not([contenteditable=false]), input:not([type=range], [type=radio], [type=checkbox])";
const OPENED = ".dv-menu[open], .dl-drawer[open], [aria-expanded=true]";

export function present(isOn) {
  const [hidden, shown] = isOn ? [".dv-present", ".dv-present-end"] : [".dv-present-end", ".dv-present"];
  const losesFocus = document.activeElement?.matches(hidden);
  document.documentElement.toggleAttribute("data-present", isOn);
  if (losesFocus) document.querySelector(shown).focus({ preventScroll: true });
}

function end() {
  present(false);
  if (document.fullscreenElement) document.exitFullscreen();
}

function begin() {
  present(true);
  // Where the browser, or the page around this one, does not allow it, the window is what there is.
  document.documentElement.requestFullscreen?.().catch(() => {});
}

function listenToPresentKeys() {
  document.addEventListener("keydown", (event) => {
    const target = targetOf(event);
    if (event.key === "Escape" && isPresented() && !target.closest(OPENED)) return end();
    if (isBrowsers(event) || event.repeat || target.closest(TYPED) || event.key.toLowerCase() !== "f") return;
    event.preventDefault();
    (isPresented() ? end : begin)();
  }, true);
  // The browser's own Escape tells no key.
  document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) present(false); });
}

export function createPresentButtons() {
  listenToPresentKeys();
  return [
    ["Present", "Present: full screen, larger, without the form (F)", PRESENT_ICONS.begin, "dv-present", begin],
    ["End presentation", "End the presentation (F or Esc)", PRESENT_ICONS.end, "dv-present-end", end],
  ].map(([label, title, icon, name, act]) => {
    const node = iconButton(label, icon, (event) => {
      // Of whoever points, the next space is the player's.
      if (event.detail) node.blur();
      act();
    });
    node.title = title;
    node.classList.add(name);
    return node;
  });
}
