// Whether this browser's visitor has seen the story, or skipped it.

import { remember } from "../visualizer/remembered.js";

const KEY = "duoviz story";

export function hasSeen() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    // A browser that keeps nothing would tell it at each visit.
    return true;
  }
}

export const keepSeen = () => remember(KEY, "seen");
