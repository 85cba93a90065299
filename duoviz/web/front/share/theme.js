// Light or dark: what the visitor's system wants, unless the page's button or its link says otherwise.

import { remember, remembered } from "../visualizer/remembered.js";

const THEME_KEPT = "duoviz theme";
export const THEMES = ["light", "dark"];

export const themeShown = () => (document.body.classList.contains("dark") ? "dark" : "light");

let chosen;
// The theme that the visitor chose, here or on an earlier page, while it is the one shown.
export const chosenTheme = () => (chosen === themeShown() ? chosen : undefined);

export const setTheme = (theme) => document.body.classList.toggle("dark", theme === "dark");

// For the visitor's next page too.
export function chooseTheme(theme) {
  chosen = theme;
  setTheme(theme);
  remember(THEME_KEPT, theme);
}

export function restoreTheme() {
  const kept = remembered(THEME_KEPT);
  if (!THEMES.includes(kept)) return;
  chosen = kept;
  setTheme(kept);
}
