// A made-up race for the tests of this folder.

import { endingAt, laneEvents } from "../testing.js";
import { placeSides } from "./clock.js";
import { applyRaceEvent, emptyRace } from "./model.js";

export const LANES = ["SpS", "DuoTree"].map((name) => ({ name, method: "made_up", baseline: false }));
export const BASELINE = { name: "Vanilla", method: "vanilla", baseline: true };

export const beginning = (more = {}) => ({ type: "lanes", lanes: LANES, repeats: 1, ...more });
export const ending = (more = {}, laneMore = {}) => ({
  type: "end",
  result: { lanes: LANES.map(({ name }) => ({ name, repeat: 0, error: null, figures: null, ...laneMore })), ...more },
});

export function raceAfter(...events) {
  const race = emptyRace();
  for (const event of events) applyRaceEvent(race, event);
  return race;
}

// SpS writes a token at 1 and at 2 seconds, and DuoTree at 1.5, 3 and 4; and the race goes on.
export const RUNS = [...laneEvents("SpS", endingAt(1, 2)), ...laneEvents("DuoTree", endingAt(1.5, 3, 4))];
export const runningRace = () => raceAfter(beginning(), ...RUNS);
// And it is over.
export const endedRace = (result) => raceAfter(beginning(), ...RUNS, ending(result));
// And its replay stands at this time.
export function raceAt(clock, race = endedRace()) {
  placeSides(Object.assign(race, { clock }));
  return race;
}
