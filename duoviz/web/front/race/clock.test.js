// Tests of clock.js: the replay's clock, and where each side stands at its time.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { endedRace, raceAfter, runningRace } from "./testing.js";
import { advanceClock, canReplay, createRaceActions, hasEnded, placeSides } from "./clock.js";

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
  actions.setClock(2.5);
  assert.deepEqual([race.clock, race.playing], [2.5, false]);
  actions.setClock(99);
  assert.equal(race.clock, 4);
  actions.setClock(-1);
  assert.equal(race.clock, 0);
});

test("stepping goes from end to end of either side's iterations", () => {
  const { race, actions } = acted(Object.assign(endedRace(), { clock: 0 }));
  const reached = (act, times) => Array.from({ length: times }, () => { act(); return race.clock; });
  assert.deepEqual(reached(actions.forward, 6), [1, 1.5, 2, 3, 4, 4]);
  assert.deepEqual(reached(actions.back, 6), [3, 2, 1.5, 1, 0, 0]);
  actions.last();
  assert.equal(race.clock, 4);
  actions.first();
  assert.equal(race.clock, 0);
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
  actions.faster();
  assert.equal(race.speed, 2);
  for (let time = 0; time < 9; time++) actions.faster();
  assert.equal(race.speed, 4);
  for (let time = 0; time < 9; time++) actions.slower();
  assert.equal(race.speed, 0.1);
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
  const shown = (race) => {
    placeSides(race);
    return race.lanes.map(({ state }) => state.shown);
  };
  assert.deepEqual(shown(Object.assign(endedRace(), { clock: 0.5 })), [-1, -1]);
  assert.deepEqual(shown(Object.assign(endedRace(), { clock: 2 })), [1, 0]);
  assert.deepEqual(shown(runningRace()), [1, 2], "and of a race that goes on, all");
});
