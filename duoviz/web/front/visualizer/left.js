// What a page leaves to itself when it is reloaded, as Gradio does once a lost server is back.

const isReloaded = () => performance.getEntriesByType("navigation")[0].type === "reload";

// What `tell` gives as the page goes, unless that is null; where it is longer than what a browser keeps, `shorter`.
export function leave(key, tell, shorter = null) {
  addEventListener("pagehide", () => {
    for (const value of [tell(), shorter]) {
      try {
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
    return isReloaded() ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}
