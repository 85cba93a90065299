// A run that was going on when its page was left is kept for the page that is loaded in its place: Gradio itself loads
// the page anew when a lost server is back.

import { readTrace } from "./check.js";
import { eventsOf } from "./state.js";

const CUT_OFF = "The page was reloaded during the run; the earlier part is kept.";

export function keepRun(key, { header, iterations, last }) {
  // One that had ended was not cut off: the next one waited.
  if (!iterations.length || last) return;
  try {
    sessionStorage.setItem(key, JSON.stringify({ header, iterations, end: null }));
  } catch {
    // It is longer than what a browser keeps, or this one keeps nothing.
  }
}

// What the page before has kept, as events; null where it has not.
export async function takeKeptRun(key) {
  let text;
  try {
    text = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
  } catch {
    return null;
  }
  const { trace } = text === null ? {} : await readTrace(text);
  return trace ? [...eventsOf(trace), { type: "status", text: CUT_OFF }] : null;
}
