// What is shown, a run or a recording, stays until the next run's header comes: that may wait in line, or be refused.

const NEVER_BEGAN = "Stopped before it began.";

// keeps: whether anything is shown; hear: takes a run's events; say: shows an event that is no run's.
export function createLobby({ keeps, hear, say }) {
  let held = null;
  const letIn = () => {
    const events = held;
    held = null;
    events.forEach(hear);
  };
  const wait = (event) => {
    if (event.type === "hold") return held.push(event);
    if (event.type === "end" || event.type === "error") held = null;
    return say(event.type === "end" ? { type: "kept", text: NEVER_BEGAN } : event);
  };
  return {
    isWaiting: () => held !== null,
    take(event) {
      if (event.type === "reset" && (held || keeps())) {
        held = [event];
        return say({ type: "waiting" });
      }
      if (event.type === "header" && held) letIn();
      return held ? wait(event) : hear(event);
    },
  };
}
