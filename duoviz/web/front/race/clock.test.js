// Tests of clock.js: the replay's clock, and where each side stands at its time.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { endedRace, raceAfter, raceAt, runningRace } from "./testing.js";
import { advanceClock, canReplay, createRaceActions, hasEnded } from "./clock.js";

function acted(race) {
  let drawn = 0;
  return { race, actions: createRaceActions(race, () => { drawn += 1; }), drawn: () => drawn };
}

test("a race can be replayed when it is over and something ran", () => {
  assert.deepEqual([raceAfter(), runningRace(), endedRace()].map(canReplay), [false, false, true]);
  assert.equal(hasEnded(endedRace()), true);
  assert.equal(hasEnded(Object.assign(endedRace(), { clock: 3.9 })), false);
  assert.equal(hasEnded(runningRace()), false);
});

test("the clock is set within the race, and stops there", () => {
  const { race, actions } = acted(Object.assign(endedRace(), { playing: true }));
  const reached = [2.5, 99, -1].map((seconds) => {
    actions.setClock(seconds);
    return [race.clock, race.playing];
  });
  assert.deepEqual(reached, [[2.5, false], [4, false], [0, false]]);
});

test("stepping goes from end to end of either side's iterations", () => {
  const { race, actions } = acted(Object.assign(endedRace(), { clock: 0 }));
  const reached = (act, times) => Array.from({ length: times }, () => { act(); return race.clock; });
  assert.deepEqual(reached(actions.forward, 6), [1, 1.5, 2, 3, 4, 4]);
  assert.deepEqual(reached(actions.back, 6), [3, 2, 1.5, 1, 0, 0]);
  assert.deepEqual([actions.last, actions.first].map((act) => reached(act, 1)), [[4], [0]]);
});

test("playing begins where the clock stands, and at the end from the beginning", () => {
  const { race, actions } = acted(endedRace());
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [true, 0]);
  race.clock = 1.2;
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [false, 1.2]);
  actions.togglePlay();
  assert.deepEqual([race.playing, race.clock], [true, 1.2]);
});

test("while the race goes on its clock is not moved", () => {
  const { race, actions, drawn } = acted(runningRace());
  for (const act of [actions.first, actions.togglePlay, actions.play, actions.forward]) act();
  assert.deepEqual([race.clock, race.playing, drawn()], [0, false, 0]);
});

test("faster and slower, up to the ends", () => {
  const { race, actions } = acted(endedRace());
  const reached = (act) => Array.from({ length: 6 }, () => { act(); return race.speed; });
  assert.deepEqual(reached(actions.faster), [2, 4, 4, 4, 4, 4]);
  assert.deepEqual(reached(actions.slower), [2, 1, 0.5, 0.25, 0.1, 0.1]);
});

test("the clock goes on by what has passed, and stops at the end", () => {
  const race = Object.assign(endedRace(), { clock: 0, playing: true, speed: 2 });
  advanceClock(race, 0.1);
  near(race.clock, 0.2);
  advanceClock(race, 60);
  near(race.clock, 0.7);
  Object.assign(race, { clock: 3.9 });
  advanceClock(race, 0.1);
  assert.deepEqual([race.clock, race.playing], [4, false]);
});

test("each side is shown as far as it had come", () => {
  const shown = (race) => race.lanes.map(({ state }) => state.shown);
  assert.deepEqual(shown(raceAt(0.5)), [-1, -1]);
  assert.deepEqual(shown(raceAt(2)), [1, 0]);
  assert.deepEqual(shown(raceAt(0, runningRace())), [1, 2], "and of a race that goes on, all");
});
