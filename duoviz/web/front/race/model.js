// What the page knows of a race, what each event adds to it, and the replay's clock.

import { SPEEDS } from "../visualizer/player.js";
import { capital } from "../visualizer/words.js";
import { addToRun, applyEvent, emptyRun, emptyState, eventsOf, stoodBefore } from "../visualizer/state.js";

const ALONE = "The methods run one after the other, so neither slows the other.";
const OVER = "Both runs are over. The replay shows them on one clock, as they were measured.";
const ROUNDS_OVER = "All rounds are over. The replay shows the median round of each on one clock, as measured.";

// next: what was told of a race that has nothing to show yet; the one before stays until then. own: while a file is
// shown, the race in whose place it is. waits: how many races have been waited for; stood: what the message
// of one that was refused took the place of.
export const emptyRace = () => ({
  epoch: 0, phase: "empty", message: "", lanes: [], repeats: 1, result: null, clock: 0, playing: false, speed: 1,
  recorded: false, file: null, own: null, before: "", next: null, waits: 0, stood: null,
});

// A lane's `runs` are its rounds by number; `state` is the visualizer's, of the run that is shown.
const newLane = ({ name, method, baseline }) => (
  { name, method, baseline, runs: new Map(), error: null, state: emptyState() });

export const sidesOf = (race) => race.lanes.filter((lane) => !lane.baseline);
export const wallOf = (lane) => lane.state.iterations.at(-1)?.sync ?? 0;
export const writtenBy = (lane) => lane.state.totals[lane.state.shown]?.tokens ?? 0;
export const tokensOf = (lane) => lane.state.totals.at(-1)?.tokens ?? 0;
export const endOf = (race) => Math.max(0, ...sidesOf(race).map(wallOf));

export const iterationAt = (lane, time) => lane.state.iterations.findLastIndex((iteration) => iteration.sync <= time);

const wallOfRun = ({ iterations }) => iterations.at(-1)?.sync ?? 0;
const meanWall = (runs) => (runs.length ? runs.reduce((sum, run) => sum + wallOfRun(run), 0) / runs.length : null);

// How many seconds the runs still take, by those that have ended: a lane's own, or else all; null before any has.
function secondsLeft({ lanes, repeats }) {
  const endedOf = (lane) => [...lane.runs.values()].filter((run) => run.end);
  const any = meanWall(lanes.flatMap(endedOf));
  if (any === null) return null;
  return lanes.filter((lane) => !lane.error).reduce((sum, lane) => {
    const each = meanWall(endedOf(lane)) ?? any;
    const underWay = [...lane.runs.values()].filter((run) => !run.end);
    const rest = underWay.reduce((seconds, run) => seconds + Math.max(0, each - wallOfRun(run)), 0);
    return sum + rest + (repeats - lane.runs.size) * each;
  }, 0);
}

function runningWords(race, { name, baseline }) {
  const begun = race.lanes.reduce((sum, lane) => sum + lane.runs.size, 0);
  const all = race.lanes.reduce((sum, lane) => sum + (lane.error ? lane.runs.size : race.repeats), 0);
  const seconds = secondsLeft(race);
  const rounded = seconds < 10 ? Math.max(1, Math.round(seconds)) : 5 * Math.round(seconds / 5);
  const left = seconds === null ? "" : `, about ${rounded} s left`;
  return `Running ${name}${baseline ? ", the baseline" : ""}: run ${begun} of ${all}${left}.`;
}

function hearLane(race, { lane: name, repeat, event }) {
  const lane = race.lanes.find((each) => each.name === name);
  if (event.type === "error") {
    lane.error = event.message;
    return;
  }
  if (event.type === "header") {
    lane.runs.set(repeat, emptyRun());
    applyEvent(lane.state, { type: "reset" });
  }
  addToRun(lane.runs.get(repeat), event);
  race.message = runningWords(race, lane);
  applyEvent(lane.state, event);
  if (event.end?.stopped === "error") lane.error = event.end.message;
}

function finish(race, result) {
  for (const { name, repeat, error } of result.lanes) {
    const lane = race.lanes.find((each) => each.name === name);
    lane.error ??= error;
    if (lane.runs.has(repeat)) for (const event of eventsOf(lane.runs.get(repeat))) applyEvent(lane.state, event);
    lane.state.follow = false;
  }
  // The round that was cut need not be one that is shown.
  const ends = race.lanes.flatMap((lane) => [...lane.runs.values()].map((run) => run.end));
  const cut = ends.find((end) => end?.stopped === "stopped" || end?.stopped === "time");
  const failed = sidesOf(race).find((lane) => lane.error);
  const missing = sidesOf(race).some((lane) => !lane.state.end);
  const words = race.recorded ? "" : failed ? `${capital(failed.name)} failed; its text so far is kept.`
    : cut ? cut.message ?? "Stopped." : missing ? "Stopped before both methods had run." : race.repeats > 1 ? ROUNDS_OVER : OVER;
  Object.assign(race, { phase: "done", result, clock: endOf(race), message: words });
}

function begin(race, { lanes, repeats, recorded = false, file = null }) {
  const [epoch, waits, speed] = [race.epoch + 1, race.waits, race.recorded ? 1 : race.speed];
  const own = file === null ? null : race.file !== null ? race.own : race.phase === "empty" ? null : { ...race };
  const told = { epoch, waits, phase: "running", speed, lanes: lanes.map(newLane), repeats, recorded, file, own, message: recorded ? "" : ALONE };
  Object.assign(race, emptyRace(), told);
}

function letIn(race) {
  const [first, ...events] = race.next ?? [];
  if (first) begin(race, first);
  for (const event of events) hearLane(race, event);
}

const CHANGES = {
  reset(race) {
    const stood = stoodBefore(race);
    Object.assign(race, { phase: "waiting", message: "", playing: false, next: null, waits: race.waits + 1, stood });
  },
  changed(race) { if (race.phase === "error") Object.assign(race, race.stood); },
  status: (race, { text }) => { race.message = text; },
  lanes(race, event) {
    if (race.lanes.length && !event.recorded) Object.assign(race, { next: [event], message: ALONE });
    else begin(race, event);
  },
  lane(race, event) {
    if (!race.next) return hearLane(race, event);
    race.next.push(event);
    if (event.event.type === "iteration") letIn(race);
  },
  end(race, { result, speed }) {
    if (!result) return Object.assign(race, { phase: "done", message: "Stopped.", next: null });
    letIn(race);
    finish(race, result);
    race.speed = speed ?? race.speed;
  },
  error: (race, { message }) => (
    Object.assign(race, { phase: "error", message, next: null, clock: race.phase === "running" ? endOf(race) : race.clock })),
  clock: (race, { clock, speed }) => Object.assign(race, { playing: false, clock, speed }),
  connection(race, { lost }) {
    const kept = race.phase === "running" ? "; the earlier part is kept" : "";
    if (lost) Object.assign(race, { before: race.message, message: `The connection to the server was lost${kept}.` });
    else race.message = race.before;
  },
};

export const applyRaceEvent = (race, event) => CHANGES[event.type]?.(race, event);

export const showOwn = (race) => Object.assign(race, race.own, { epoch: race.epoch + 1, playing: false });

export const canReplay = (race) => race.phase !== "running" && endOf(race) > 0;
export const hasEnded = (race) => canReplay(race) && race.clock >= endOf(race);

export function createRaceActions(race, redraw) {
  const setClock = (seconds) => {
    if (!canReplay(race)) return;
    Object.assign(race, { playing: false, clock: Math.min(endOf(race), Math.max(0, seconds)) });
    redraw();
  };
  const setRaceSpeed = (speed) => { race.speed = speed; redraw(); };
  const shift = (by) => setRaceSpeed(SPEEDS[SPEEDS.indexOf(race.speed) + by] ?? race.speed);
  const moments = () => sidesOf(race).flatMap((lane) => lane.state.iterations.map((iteration) => iteration.sync));
  const play = () => {
    if (!canReplay(race)) return;
    Object.assign(race, { playing: true, clock: race.clock >= endOf(race) ? 0 : race.clock });
    redraw();
  };
  return {
    setClock, setSpeed: setRaceSpeed, play,
    togglePlay: () => (race.playing ? setClock(race.clock) : play()),
    first: () => setClock(0), last: () => setClock(endOf(race)), goLive: () => setClock(endOf(race)),
    back: () => setClock(Math.max(0, ...moments().filter((moment) => moment < race.clock))),
    forward: () => setClock(Math.min(endOf(race), ...moments().filter((moment) => moment > race.clock))),
    faster: () => shift(1), slower: () => shift(-1),
  };
}

// A long pause (a hidden tab) must not jump the replay ahead.
export function advanceClock(race, elapsed) {
  race.clock = Math.min(endOf(race), race.clock + Math.min(0.25, elapsed) * race.speed);
  if (race.clock >= endOf(race)) race.playing = false;
}

// While a run goes on its text is shown as it comes; in the replay, each side as far as it had come at this time.
export function placeSides(race) {
  for (const lane of race.lanes) {
    lane.state.shown = canReplay(race) ? iterationAt(lane, race.clock) : lane.state.iterations.length - 1;
  }
}
