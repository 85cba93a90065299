// What the page knows of a run, and what each event adds to it.

const STOPPED = {
  eos: "Finished: the target ended its answer.",
  length: "Finished: the limit on new tokens was reached.",
  context: "Finished: the context is full.",
  stopped: "Stopped.",
  time: "Stopped: the time for a run was over.",
  error: "The run failed.",
};

export const beginOf = (iteration) => Math.min(iteration.target.start, iteration.draft[0]?.start ?? Infinity);

export const emptyState = () => ({
  epoch: 0, phase: "empty", message: "", file: null, header: null, iterations: [], totals: [], tails: [],
  end: null, metrics: null, shown: -1, follow: true, playing: false, speed: 1, clock: 0,
});

// Whether a run is going on; a trace from a file is not, however long it takes to show.
export const isLive = (state) => state.phase === "running" && !state.file;

// How many tokens the run had written before this iteration.
export const tokensBefore = (state, position) => state.totals[position - 1]?.tokens ?? 0;

function overlapOf({ target, draft }) {
  let both = 0;
  for (const step of draft) both += Math.max(0, Math.min(step.end, target.end) - Math.max(step.start, target.start));
  return both;
}

// Running sums up to each iteration, so that any one can be shown without going through all before it.
function addIteration(state, iteration) {
  const before = state.totals.at(-1) ?? { tokens: 0, forwards: 0, tested: 0, accepted: 0, overlap: 0, ttft: null };
  const tokens = before.tokens + iteration.committed.length;
  state.totals.push({
    tokens,
    forwards: before.forwards + 1,
    tested: before.tested + iteration.verdict.tested,
    accepted: before.accepted + iteration.verdict.accepted,
    overlap: before.overlap + overlapOf(iteration),
    ttft: before.ttft ?? (tokens ? iteration.sync : null),
  });
  const text = iteration.committed.map((token) => token.text).join("");
  const tail = state.tails.at(-1) ?? String(state.header?.prompt ?? "").slice(-80);
  if (!state.tails.length) state.tails.push(tail);
  state.tails.push((tail + text).slice(-80));
  state.iterations.push(iteration);
}

export function applyEvent(state, event) {
  if (event.type === "reset") {
    Object.assign(state, emptyState(), { epoch: state.epoch + 1, phase: "running", speed: state.speed, file: event.file ?? null });
  } else if (event.type === "status") {
    state.message = event.text;
  } else if (event.type === "header") {
    Object.assign(state, { header: event.header, phase: "running" });
  } else if (event.type === "iteration") {
    addIteration(state, event.iteration);
    Object.assign(state, { phase: "running", message: state.file ? "Loading." : "Running." });
    if (state.follow) state.shown = state.iterations.length - 1;
  } else if (event.type === "end") {
    const message = event.end?.message ?? STOPPED[event.end?.stopped] ?? "The trace ends before its run did.";
    const phase = event.end?.stopped === "error" ? "error" : "done";
    Object.assign(state, { phase, message, end: event.end ?? null, metrics: event.metrics ?? null });
  } else if (event.type === "error") {
    Object.assign(state, { phase: "error", message: event.message });
  }
}

// The events that give a trace again.
export function eventsOf({ header, iterations, end, metrics }, file = null) {
  const told = iterations.map((iteration) => ({ type: "iteration", iteration }));
  return [{ type: "reset", file }, { type: "header", header }, ...told, { type: "end", end, metrics }];
}

export function runningNumbers(state, position) {
  const sums = state.totals[position];
  if (!sums) return {};
  const { sync } = state.iterations[position];
  return {
    tps: sync > 0 ? sums.tokens / sync : null,
    tau: sums.tokens / sums.forwards,
    acceptance: sums.tested ? sums.accepted / sums.tested : null,
    overlap: state.header?.can_overlap && sync > 0 ? sums.overlap / sync : null,
    ttft: sums.ttft,
  };
}
