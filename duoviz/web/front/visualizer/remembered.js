// What this browser remembers: from one visit to the next, and for the page that comes when this one is reloaded, as
// Gradio does once a lost server is back.

// What is remembered as long as the page is open, where a browser remembers nothing.
const told = new Map();

// The text under a key; null where there is none.
export function remembered(key) {
  try {
    return localStorage.getItem(key) ?? told.get(key) ?? null;
  } catch {
    return told.get(key) ?? null;
  }
}

export function remember(key, text) {
  told.set(key, text);
  try {
    localStorage.setItem(key, text);
  } catch { /* See above. */ }
}

// Leaves to the next page what the first of `tells` gives as this one goes, unless that is null; where it is
// longer than what a browser keeps, the next.
export function leave(key, ...tells) {
  addEventListener("pagehide", () => {
    for (const tell of tells) {
      try {
        const value = tell();
        return value && sessionStorage.setItem(key, JSON.stringify(value));
      } catch { /* This browser keeps nothing, or nothing so long. */ }
    }
  });
}

// What the page before left; null where it left nothing, or was another visit's.
export function takeLeft(key) {
  try {
    const text = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return performance.getEntriesByType("navigation")[0].type === "reload" ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}
