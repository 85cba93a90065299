// The replay's clock: playing, holding, and moving it by hand.

import { endOf, iterationAt, sidesOf } from "./model.js";
import { SPEEDS } from "../visualizer/player.js";

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
