// Whether this browser's visitor has seen the story, or skipped it.

const KEY = "duoviz story";

export function hasSeen() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    // A browser that keeps nothing would tell it at each visit.
    return true;
  }
}

export function keepSeen() {
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // Then the button is there.
  }
}
