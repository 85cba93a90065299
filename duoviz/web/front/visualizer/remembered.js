// What this browser remembers from one visit to the next, where it remembers anything.

// The text under a key; null where there is none yet, and `never` where nothing is remembered.
export function remembered(key, never = null) {
  try {
    return localStorage.getItem(key);
  } catch {
    return never;
  }
}

export function remember(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch { /* As long as the page is open it is known all the same. */ }
}
