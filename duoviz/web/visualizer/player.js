// Going through the iterations: by hand, by the clock, or with the run.

import { beginOf, isLive } from "./state.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export function createActions(state, redraw, resetView) {
  const lastIndex = () => state.iterations.length - 1;
  const choose = (index) => {
    if (!state.iterations.length) return;
    Object.assign(state, { follow: false, playing: false, shown: Math.min(lastIndex(), Math.max(0, Math.round(index))) });
    redraw();
  };
  const setSpeed = (speed) => { state.speed = speed; redraw(); };
  const shiftSpeed = (by) => setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(state.speed) + by))]);
  const goLive = () => {
    if (!state.iterations.length) return;
    Object.assign(state, { follow: isLive(state), playing: false, shown: lastIndex() });
    resetView();
    redraw();
  };
  const play = () => {
    const atEnd = state.shown >= lastIndex();
    if (atEnd && isLive(state)) return goLive();
    if (atEnd) state.shown = 0;
    const iteration = state.iterations[state.shown];
    Object.assign(state, { playing: true, follow: false, clock: atEnd ? beginOf(iteration) : iteration.sync });
    redraw();
  };
  const togglePlay = () => {
    if (!state.iterations.length) return;
    if (isMoving(state)) choose(state.shown);
    else play();
  };
  return {
    choose, setSpeed, togglePlay, goLive, first: () => choose(0), last: goLive,
    back: () => choose(state.shown - 1), forward: () => choose(state.shown + 1),
    faster: () => shiftSpeed(1), slower: () => shiftSpeed(-1),
  };
}

export const isMoving = (state) => state.playing || (state.follow && isLive(state));

// A long pause (a hidden tab) must not jump the replay ahead.
export function advancePlay(state, elapsed) {
  state.clock += Math.min(0.25, elapsed) * state.speed;
  const last = state.iterations.length - 1;
  while (state.shown < last && state.iterations[state.shown + 1].sync <= state.clock) state.shown++;
  if (state.shown < last) return;
  state.playing = false;
  state.follow = isLive(state);
}
