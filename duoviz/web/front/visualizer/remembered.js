// What this browser remembers from one visit to the next, where it remembers anything.

// The text under a key; null where there is none.
export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch { /* As long as the page is open it is known all the same. */ }
}
