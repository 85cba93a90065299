// What is shown before the visitor's first run: a recorded one.

import { readTrace } from "./check.js";
import { mostTelling, SLOWLY } from "./player.js";
import { eventsOf } from "./state.js";

// The trace at this address; null where it cannot be had, and the page works without it.
export async function fetchRecording(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? (await readTrace(await answer.text())).trace ?? null : null;
  } catch {
    return null;
  }
}

// Held at the iteration `at`, or where that is null, playing; held all the same for those who want no motion.
function openingEvents(trace, at, told) {
  const [reset, ...events] = eventsOf(trace, "recording");
  const still = at !== null || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const hold = still ? at ?? mostTelling(trace.iterations) : Math.max(0, mostTelling(trace.iterations) - 1);
  const play = still ? [] : [{ type: "play", speed: SLOWLY }];
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
