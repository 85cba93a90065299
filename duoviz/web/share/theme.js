// Light or dark: what the visitor's system wants, unless the page's button or its link says otherwise.

const KEY = "duoviz theme";
export const THEMES = ["light", "dark"];

export const themeShown = () => (document.body.classList.contains("dark") ? "dark" : "light");

// remember: for the visitor's next page too.
export function setTheme(theme, remember = false) {
  document.body.classList.toggle("dark", theme === "dark");
  if (!remember) return;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // This browser keeps nothing.
  }
}

export function restoreTheme() {
  try {
    const kept = localStorage.getItem(KEY);
    if (THEMES.includes(kept)) setTheme(kept);
  } catch {
    // As the system wants.
  }
}
