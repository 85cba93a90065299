// Light or dark: what the visitor's system wants, unless the page's button or its link says otherwise.

const THEME_KEPT = "duoviz theme";
export const THEMES = ["light", "dark"];

export const themeShown = () => (document.body.classList.contains("dark") ? "dark" : "light");

// remember: for the visitor's next page too.
export function setTheme(theme, remember = false) {
  document.body.classList.toggle("dark", theme === "dark");
  if (!remember) return;
  try {
    localStorage.setItem(THEME_KEPT, theme);
  } catch {
    // This browser keeps nothing.
  }
}

export function restoreTheme() {
  try {
    const kept = localStorage.getItem(THEME_KEPT);
    if (THEMES.includes(kept)) setTheme(kept);
  } catch {
    // As the system wants.
  }
}
