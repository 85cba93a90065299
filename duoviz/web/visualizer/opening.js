// What is shown before the visitor's first run: a recorded one.

import { readTrace } from "./check.js";
import { eventsOf } from "./state.js";

// Slow enough for the eye: an iteration takes some hundredths of a second.
const OPENING_SPEED = 0.25;

// The trace at this address; null where it cannot be had, and the page works without it.
export async function fetchRecording(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? (await readTrace(await answer.text())).trace ?? null : null;
  } catch {
    return null;
  }
}

// The first of the iterations with the most sequences of which the target took one.
function mostTelling({ iterations }) {
  const branches = ({ verdict, sequences }) => (verdict.outcome === "hit" ? sequences ?? 0 : 0);
  return iterations.reduce((best, each, index) => (branches(each) > branches(iterations[best]) ? index : best), 0);
}

// Held at the iteration `at`, or where that is null, playing; held all the same for those who want no motion.
function openingEvents(trace, at, told) {
  const [reset, ...events] = eventsOf(trace, "recording");
  const still = at !== null || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const hold = still ? at ?? mostTelling(trace) : 0;
  const play = still ? [] : [{ type: "play", speed: OPENING_SPEED }];
  return [{ ...reset, recorded: true }, { type: "hold", iteration: hold }, ...events, { type: "status", text: told }, ...play];
}

// A function that shows the recording at this address, as long as no run has begun: `opening(at)`. told: the sentence that
// stands with it.
export function createOpening(receiver, address, told) {
  const recording = address ? fetchRecording(address) : null;
  let held = null;
  return async (at) => {
    // The page asks as it opens, and its link before or after it.
    held = at ?? held;
    const trace = await recording;
    if (trace && receiver.isNew()) openingEvents(trace, held, told).forEach(receiver.send);
  };
}
