// Light or dark: what the visitor's system wants, unless the page's button or its link says otherwise.

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
  try {
    localStorage.setItem(THEME_KEPT, theme);
  } catch {
    // This browser keeps nothing.
  }
}

export function restoreTheme() {
  try {
    const kept = localStorage.getItem(THEME_KEPT);
    if (!THEMES.includes(kept)) return;
    chosen = kept;
    setTheme(kept);
  } catch {
    // As the system wants.
  }
}
