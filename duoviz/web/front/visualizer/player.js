// Going through the iterations: by hand, by the clock, or with the run.

import { keepPace, PACES, SLOWLY } from "./pace.js";
import { beginAt, isLive, isTimed, spanOf } from "./state.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
// A part of a pace is the clock's, for guess and check, and in the rest it stands still: the verdict.
const CLOCKS_PART = 0.55;
// Within the verdict: from when to when tokens set out for the text, and when what is not kept leaves the tree.
const [SENDING_FROM, SENDING_TO, LEAVING_FROM] = [0.15, 0.5, 0.5];
const LEAST_SHOWN = 0.25;
export const ALL_SPEEDS = [...Object.keys(PACES), ...SPEEDS];
export const speedsOf = (header) => (isTimed(header) ? ALL_SPEEDS : Object.keys(PACES));
export const speedWords = (speed) => (PACES[speed] ? `${PACES[speed]} s per iteration` : `${speed}×`);

export const wantsNoMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const MOST_AT_ONCE = 4;

// The iteration that shows the method best: the first after the prompt's of those with the most sequences, but not too
// many, of which the target took one; where there are no sequences, with the most tokens written.
export function mostTelling(iterations) {
  const worth = ({ index, verdict, sequences, committed }) => {
    const many = sequences === null ? committed.length : verdict.outcome === "hit" ? sequences : 0;
    return index && many <= MOST_AT_ONCE ? many : 0;
  };
  return iterations.reduce((best, each, index) => (worth(each) > worth(iterations[best]) ? index : best), 0);
}

export function createActions(state, redraw, resetView) {
  const lastIndex = () => state.iterations.length - 1;
  // isGuess: as it stands when all guesses are made, and nothing is judged yet.
  const choose = (index, isGuess = false) => {
    if (!state.iterations.length) return;
    const shown = Math.min(lastIndex(), Math.max(0, Math.round(index)));
    const moment = isGuess ? state.iterations[shown].draft.at(-1)?.end ?? null : null;
    Object.assign(state, { follow: false, playing: false, moment, clock: moment ?? state.clock, shown });
    redraw();
  };
  const choosePace = (pace) => {
    state.pace = pace;
    keepPace(pace);
  };
  const setSpeed = (speed) => {
    state.speed = speed;
    if (isLive(state) && isPaced(state)) choosePace(speed);
    redraw();
  };
  const shiftSpeed = (by) => {
    const speeds = speedsOf(state.header);
    setSpeed(speeds[speeds.indexOf(state.speed) + by] ?? state.speed);
  };
  const goLive = () => {
    if (!state.iterations.length) return;
    if (isLive(state)) choosePace(null);
    Object.assign(state, { follow: isLive(state), playing: false, moment: null, shown: lastIndex() });
    resetView();
    redraw();
  };
  const play = () => {
    const atEnd = state.shown >= lastIndex() && state.moment === null;
    if (atEnd && isLive(state) && state.pace === null) return goLive();
    if (state.moment === null) beginAt(state, atEnd && !isLive(state) ? 0 : state.shown);
    Object.assign(state, { playing: true, follow: false });
    redraw();
  };
  const togglePlay = () => {
    if (!state.iterations.length) return;
    if (!isMoving(state)) play();
    else if (state.moment !== null) {
      state.playing = false;
      redraw();
    } else choose(state.shown);
  };
  const watchSlowly = () => {
    choosePace(SLOWLY);
    beginAt(state, isLive(state) ? state.shown : Math.max(0, mostTelling(state.iterations) - 1));
    Object.assign(state, { playing: true, follow: false, speed: SLOWLY });
    resetView();
    redraw();
  };
  return {
    choose, setSpeed, togglePlay, goLive, watchSlowly, first: () => choose(0), last: goLive,
    back: () => choose(state.shown - 1), forward: () => choose(state.shown + 1),
    faster: () => shiftSpeed(1), slower: () => shiftSpeed(-1),
  };
}

export const isMoving = (state) => state.playing || (state.follow && isLive(state));
export const isPaced = (state) => state.speed in PACES;

function advancePaced(state, elapsed) {
  const pace = PACES[state.speed];
  const { begin, end } = spanOf(state.iterations, state.shown);
  if (state.clock < end) state.clock = Math.min(end, state.clock + (elapsed * (end - begin)) / (CLOCKS_PART * pace));
  else state.rest += elapsed;
  state.moment = state.clock;
  if (state.rest < (1 - CLOCKS_PART) * pace) return;
  if (state.shown < state.iterations.length - 1) beginAt(state, state.shown + 1);
  // Of a run that goes on, the next one is waited for.
  else if (!isLive(state)) endPlay(state);
}

const endPlay = (state) => Object.assign(state, { playing: false, moment: null, follow: isLive(state) });

// A long pause (a hidden tab) must not jump the replay ahead.
export function advancePlay(state, elapsed) {
  const passed = Math.min(0.25, elapsed);
  if (isPaced(state)) return advancePaced(state, passed);
  const last = state.iterations.length - 1;
  state.clock += passed * state.speed;
  while (state.shown < last && state.iterations[state.shown].sync <= state.clock) state.shown++;
  const { begin, end } = spanOf(state.iterations, state.shown);
  state.moment = (end - begin) / state.speed < LEAST_SHOWN ? end : state.clock;
  state.rest = 0;
  if (state.clock >= end) endPlay(state);
}

// How much of the verdict's time is over, 0 to 1; null where nothing is to move.
function verdictPart(state) {
  if (!state.playing || !isPaced(state) || wantsNoMotion()) return null;
  const isOver = state.moment >= state.iterations[state.shown].sync;
  return isOver ? state.rest / ((1 - CLOCKS_PART) * PACES[state.speed]) : null;
}

export const isLeaving = (state) => verdictPart(state) > LEAVING_FROM;

// Which part of the tokens should have set out for the text, below 0 while they wait; null where none is to.
export function sendingOf(state) {
  const part = verdictPart(state);
  return part === null ? null : (part - SENDING_FROM) / (SENDING_TO - SENDING_FROM);
}

// An iteration's beat at the moment shown; "" where it is not played.
export function beatOf({ moment, shown, iterations }) {
  if (moment === null) return "";
  const { draft, target, sync } = iterations[shown];
  if (moment >= sync) return "verdict";
  if (moment > (draft.at(-1)?.end ?? 0)) return "check";
  return moment > target.start ? "guess check" : "guess";
}

// How far the text is written: what an iteration adds stands there when it has ended.
export function writtenUpTo({ moment, shown, iterations }) {
  return moment != null && moment < iterations[shown]?.sync ? shown - 1 : shown;
}
