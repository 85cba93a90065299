// What the page knows of a run, and what each event adds to it.

import { aboutOf } from "./methods.js";
import { remember, remembered } from "./remembered.js";
import { count, duration } from "./words.js";

// How a run is watched while it goes on: so slowly that each iteration can be followed, in so many seconds whatever it
// took, or as fast as it comes.
export const SLOWLY = "2 s";
const A_SECOND_EACH = "1 s";
export const PACES = { [SLOWLY]: 2, [A_SECOND_EACH]: 1 };

const [KEPT, LIVE] = ["duoviz pace", "live"];

// pace: one of PACES, null to follow.
export const keepPace = (pace) => remember(KEPT, pace ?? LIVE);

export function paceOfRuns() {
  const kept = remembered(KEPT);
  return kept === LIVE ? null : kept in PACES ? kept : SLOWLY;
}

export function firstSo(end, isSo) {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const shared = (one, other, from, to) => (
  Math.max(0, Math.min(one.end, other.end, to) - Math.max(one.start, other.start, from)));

// The first that ends at this time or later, of what is in the order of its ends.
export const iterationEndingAt = (iterations, time) => firstSo(iterations.length, (at) => iterations[at].sync >= time);
const spanEndingAt = (lane, time) => firstSo(lane.length, (at) => lane[at].end >= time);

// Calls back with each span of a lane that has a part between two times.
export function eachBetween(lane, from, to, tell) {
  for (let at = spanEndingAt(lane, from); lane[at]?.start <= to; at++) tell(lane[at]);
}

export function busyBetween({ target, draft }, from, to) {
  const busy = { target: 0, draft: 0, both: 0 };
  eachBetween(target, from, to, (span) => { busy.target += shared(span, span, from, to); });
  let first = spanEndingAt(target, from);
  eachBetween(draft, from, to, (step) => {
    busy.draft += shared(step, step, from, to);
    while (target[first]?.end <= step.start) first++;
    for (let at = first; target[at]?.start < step.end; at++) busy.both += shared(target[at], step, from, to);
  });
  return busy;
}

const STOPPED = {
  eos: "Finished: the large model ended its answer.",
  length: "Finished: the limit on new tokens was reached.",
  context: "Finished: the context is full.",
  stopped: "Stopped.",
  time: "Stopped: the time limit was reached.",
  error: "The run failed.",
};
const COMPARING = " Now the large model writes it alone, for the side-by-side view.";
const [CUT, WHOLE] = [["stopped", "error"], ["eos", "length", "context"]];
const LOST = "The connection to the server was lost";

// What a whole run has written, in which time and how many passes.
function writtenWords({ header, iterations, totals }) {
  const tokens = totals.at(-1)?.tokens ?? 0;
  const time = isTimed(header) && iterations.length ? ` in ${duration(iterations.at(-1).sync)}` : "";
  const instead = iterations.length < tokens ? ` instead of ${tokens}` : "";
  return `${count(tokens, "token")}${time}: ${count(iterations.length, "pass", "passes")}${instead}.`;
}

// When an iteration's own computing began; a draft step may have begun long before the iteration that it came with.
export const beginOf = (iteration) => Math.min(iteration.target.start, iteration.draft[0]?.start ?? Infinity);

// Whether the run's times are known: another engine's may not be, and then its clock counts iterations.
export const isTimed = (header) => header?.clock !== "iterations";

// The iteration's place on the clock: from the end of the one before to its own.
export const spanOf = (iterations, at) => ({ begin: iterations[at - 1]?.sync ?? 0, end: iterations[at].sync });

// The clock at an iteration's begin. moment: the time at which the iteration is shown, null for its end; rest: seconds
// for which its end has been standing there.
export function beginAt(state, position) {
  const { begin } = spanOf(state.iterations, position);
  Object.assign(state, { shown: position, clock: begin, moment: begin, rest: 0 });
}

// A run as its feed tells it, whatever is shown; `file`: the name of the recording that the feed tells instead; `last`:
// the event that ended it, an `end` or an `error`.
export const emptyRun = () => (
  { file: null, header: null, iterations: [], end: null, metrics: null, last: null, lost: false, alone: null });

const textOf = ({ iterations }) => iterations.flatMap(({ committed }) => committed.map(({ text }) => text)).join("");

// Of what the large model wrote alone after a run: from a busy machine's nothing follows, nor from another text's.
const canCompare = (run, { last, run: alone }) => (
  WHOLE.includes(last?.end?.stopped) && !last.end.message && textOf(run) === textOf(alone));

// `alone`: the large model's run that came after it and the event that ended that, where both can be compared.
export function addToRun(run, event) {
  if (event.type === "reset") Object.assign(run, emptyRun(), { file: event.file ?? null });
  else if (event.type === "header") run.header = event.header;
  else if (event.type === "iteration") run.iterations.push(event.iteration);
  else if (event.type === "end") Object.assign(run, { end: event.end ?? null, metrics: event.metrics ?? null, last: event });
  else if (event.type === "error") run.last = event;
  else if (event.type === "connection") run.lost = event.lost;
  else if (event.type === "alone") run.alone = canCompare(run, event) ? { ...event.run, last: event.last } : null;
}

// A run as it is shown: sums and places that follow from it, and what of it is in view; `asked`: the method of a run
// that has not begun, which the message is about; `waits`: how many runs have been waited for; `stood`: what the
// message of one that was refused took the place of; `pace`: the speed at which it is played while it goes on, null
// where it is followed as fast as it comes; `isCompared`: the large model runs alone after it, to compare.
export const emptyState = () => ({
  ...emptyRun(), epoch: 0, phase: "empty", message: "", lanes: { target: [], draft: [] }, totals: [], shown: -1, follow: true,
  playing: false, speed: 1, clock: 0, moment: null, rest: 0, recorded: false, vanilla: null, average: null,
  hold: null, asked: null, pace: null, waits: 0, stood: null, isCompared: false,
});

// Whether a run is going on; a trace from a file is not, however long it takes to show.
export const isLive = (state) => state.phase === "running" && !state.file;

// The end of the text before an iteration, from the prompt on.
export function textBefore({ header, iterations }, position) {
  const tokens = iterations.slice(0, position).flatMap(({ committed }) => committed);
  return `${header.prompt}\n${tokens.map(({ text }) => text).join("")}`.slice(-80);
}

// Whether the draft's candidates have a place: not in another engine's trace, which does not tell of them.
export const tellsCandidates = (state) => (
  state.header?.draft !== null && (isLive(state) || !state.totals.length || state.totals.at(-1).candidates));

// Running sums up to each iteration, so that any one can be shown without going through all before it.
function sumUp(state, iteration) {
  const before = state.totals.at(-1) ?? { tokens: 0, tested: 0, accepted: 0, ttft: null };
  const [tokens, position] = [before.tokens + iteration.committed.length, state.totals.length];
  state.totals.push({
    tokens,
    tested: before.tested + iteration.verdict.tested,
    accepted: before.accepted + iteration.verdict.accepted,
    ttft: before.ttft ?? (tokens ? iteration.sync : null),
    candidates: Boolean(before.candidates || iteration.candidates.length),
  });
  // A lane's spans are in order and do not overlap each other.
  const { target, draft } = iteration;
  state.lanes.target.push({ start: target.start, end: target.end, size: target.rows, position });
  state.lanes.draft.push(...draft.map(({ start, end, tokens: size }) => ({ start, end, size, position })));
}

// Of an error, what stood before that; so that it can stand there again.
export const stoodBefore = ({ phase, message, stood }) => (phase === "error" ? stood : { phase, message });

const CHANGES = {
  reset(state, { file = null, recorded = false, vanilla = null, average = null, pace = null }) {
    const speed = state.recorded ? 1 : state.speed;
    Object.assign(state, emptyState(), { epoch: state.epoch + 1, waits: state.waits, phase: "running", speed, file, recorded, vanilla, average, pace });
  },
  status: (state, { text }) => { state.message = text; },
  asked: (state, { method }) => { state.asked = method; },
  // What was shown stands still, however it was played.
  waiting(state) {
    const [waits, stood] = [state.waits + 1, stoodBefore(state)];
    Object.assign(state, { phase: "waiting", message: "", playing: false, follow: false, isCompared: false, waits, stood });
  },
  // The question is another one now: what was wrong with the one before is no longer said.
  changed(state) {
    if (state.phase !== "error") return;
    Object.assign(state, state.iterations.length ? state.stood : { phase: "empty", message: "" }, { asked: null });
  },
  kept: (state, { text }) => Object.assign(state, { phase: "done", message: text }),
  header(state) {
    state.phase = "running";
    // Where nothing is guessed there is nothing to watch slowly.
    if (!aboutOf(state.header).proposers.length) state.pace = null;
    if (!isTimed(state.header) && Number.isFinite(state.speed)) state.speed = A_SECOND_EACH;
  },
  iteration(state, { iteration }) {
    sumUp(state, iteration);
    Object.assign(state, { phase: "running", message: state.file ? "Loading." : "Running." });
    if (!state.follow) return;
    state.shown = state.iterations.length - 1;
    if (state.pace !== null && state.hold === null) CHANGES.play(state, { speed: state.pace });
    else state.follow = state.shown !== state.hold;
  },
  end(state, { end, note }) {
    const ended = end?.message ?? STOPPED[end?.stopped] ?? "The trace is incomplete: it ends before its run did.";
    const message = [ended, WHOLE.includes(end?.stopped) && writtenWords(state), note].filter(Boolean).join(" ");
    Object.assign(state, { phase: end?.stopped === "error" ? "error" : "done", message });
    // A run that is cut stands still where it is shown; of one that has ended, the rest is played.
    if (CUT.includes(end?.stopped)) state.playing = false;
  },
  alone(state, { last, note = "" }) {
    const isCompared = last === null;
    if (isCompared !== state.isCompared) state.message = isCompared ? state.message + COMPARING : state.message.replace(COMPARING, note && ` ${note}`);
    state.isCompared = isCompared;
  },
  error: (state, { message }) => Object.assign(state, { phase: "error", message, playing: false }),
  connection(state, { lost }) {
    const kept = state.iterations.length > 0;
    if (lost && isLive(state)) Object.assign(state, { phase: "lost", message: kept ? `${LOST}; the earlier part is kept.` : `${LOST}.` });
    else if (state.phase === "waiting") state.message = lost ? `${LOST}.` : "";
    else if (!lost && state.phase === "lost") Object.assign(state, { phase: "running", message: kept ? "Running." : "" });
  },
  hold: (state, { iteration }) => { state.hold = iteration; },
  play(state, { speed }) {
    beginAt(state, state.shown);
    Object.assign(state, { playing: true, follow: false, speed });
  },
};

export function applyEvent(state, event) {
  addToRun(state, event);
  CHANGES[event.type]?.(state, event);
}

export function stateAfter(events) {
  const state = emptyState();
  for (const event of events) applyEvent(state, event);
  return state;
}

export function eventsOf({ header, iterations, end, metrics }, file = null, last = { type: "end", end, metrics }) {
  const told = iterations.map((iteration) => ({ type: "iteration", iteration }));
  return [{ type: "reset", file }, { type: "header", header }, ...told, last];
}

export function runningNumbers(state, position) {
  const sums = state.totals[position];
  if (!sums) return {};
  const { sync } = state.iterations[position];
  return {
    tps: sync > 0 ? sums.tokens / sync : null,
    tau: sums.tokens / (position + 1),
    acceptance: sums.tested ? sums.accepted / sums.tested : null,
    overlap: state.header?.can_overlap && sync > 0 ? busyBetween(state.lanes, 0, sync).both / sync : null,
    ttft: sums.ttft,
  };
}
