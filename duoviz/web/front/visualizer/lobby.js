// A run that has ended stays shown until the next one's header comes: the next may wait in line, or be refused.

const NEVER_BEGAN = "Stopped before it began; the previous run is still shown.";

// keeps: whether a run would be lost; hear: takes a run's events; say: shows an event that is no run's.
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
