// What a server sends of runs, and how the next run takes the place of the one shown.

import { paceOfRuns } from "./state.js";

// A server sends a batch four times a second at least, with or without events.
const TICK_MS = 1000;
const SILENT_TICKS = 5;

// subscribe, which makes it a feed; take, for each batch {run, seq, events}, which gives the run under way; isOpen:
// whether a run has begun and not ended; holdNext: at which iteration the next run is held.
export function createReceiver() {
  let send = () => {};
  let run = null, seen = -1, open = false, silent = 0, hold = null;
  const begun = new Set();
  // Ticks are counted and not time: while a computer sleeps, neither ticks nor batches come.
  setInterval(() => {
    if (open && ++silent === SILENT_TICKS) send({ type: "connection", lost: true });
  }, TICK_MS);
  return {
    send: (event) => send(event),
    isOpen: () => open,
    holdNext(iteration) { hold = iteration; },
    subscribe(callback) { send = callback; },
    take(batch) {
      // Gradio sends a run's last batch once more when the server has left the run, and the next may have come by then.
      if (batch.run !== run && begun.has(batch.run)) return run;
      if (batch.run !== run) {
        begun.add(batch.run);
        [run, seen, open, silent] = [batch.run, -1, true, 0];
        send({ type: "reset", pace: paceOfRuns() });
        if (hold !== null) send({ type: "hold", iteration: hold });
        hold = null;
      }
      if (batch.seq <= seen) return run;
      if (silent >= SILENT_TICKS) send({ type: "connection", lost: false });
      [seen, silent] = [batch.seq, 0];
      for (const event of batch.events) send(event);
      if (batch.events.some(({ type }) => type === "end" || type === "error")) open = false;
      return run;
    },
  };
}

const NEVER_BEGAN = "Stopped before it began.";

// What is shown stays until the next run has something to show. keeps: whether anything is shown; hear: takes a run's
// events; say: shows an event that is no run's.
export function createLobby({ keeps, hear, say }) {
  let held = null;
  const letIn = () => {
    const events = held;
    held = null;
    events.forEach(hear);
  };
  const wait = (event) => {
    if (event.type === "hold" || event.type === "header") return held.push(event);
    if (event.type === "end" || event.type === "error") held = null;
    return say(event.type === "end" ? { type: "kept", text: event.end?.message ?? NEVER_BEGAN } : event);
  };
  return {
    isWaiting: () => held !== null,
    take(event) {
      if (event.type === "reset" && (held || keeps())) {
        held = [event];
        return say({ type: "waiting" });
      }
      if (event.type === "iteration" && held) letIn();
      return held ? wait(event) : hear(event);
    },
  };
}
