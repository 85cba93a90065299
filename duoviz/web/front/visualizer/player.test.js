// Tests of player.js: going through the iterations by hand, by the clock, and slowly.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, iterationOf, near, stateOf } from "../testing.js";
import {
  advancePlay, ALL_SPEEDS, beatOf, createActions, isLeaving, isMoving, isPaced, mostTelling, PACES, sendingOf, SLOWLY,
  speedWords, SPEEDS, writtenUpTo,
} from "./player.js";
import { beginAt } from "./state.js";

// They take one second, one, and two.
const THREE = [1, 2, 4].map((sync, index) => iterationOf({ index, sync, committed: ["a"] }));

function playing(speed, from = 0, state = endedState(THREE)) {
  beginAt(state, from);
  return Object.assign(state, { playing: true, follow: false, speed });
}

function advance(state, times, seconds = 0.25) {
  for (let time = 0; time < times; time++) advancePlay(state, seconds);
}

function acted(state) {
  const calls = { redraw: 0, reset: 0 };
  return { actions: createActions(state, () => { calls.redraw += 1; }, () => { calls.reset += 1; }), calls };
}

const shownIn = ({ shown, playing: plays, moment, follow }) => ({ shown, playing: plays, moment, follow });
const telling = (sequences, outcome = "hit") => ({ sequences, verdict: { outcome } });
const told = (...iterations) => mostTelling(iterations.map((each, index) => iterationOf({ index, ...each })));

test("the most telling iteration has the most sequences of which one was taken", () => {
  assert.equal(told(telling(4), telling(2), telling(3), telling(3)), 2, "the first of equals, but not the prompt's");
  assert.equal(told(telling(1), telling(2), telling(5)), 1, "more than can be taken in");
  assert.equal(told(telling(1), telling(2), telling(4, "miss"), telling(3, "rejection")), 1);
  assert.equal(told(telling(1), telling(1, "miss")), 0);
  assert.equal(told(), 0);
});

test("where there are no sequences, it writes the most tokens", () => {
  const writes = (number) => ({ committed: Array.from({ length: number }, () => "a") });
  assert.equal(told(writes(9), writes(1), writes(3), writes(5), writes(3)), 2);
});

test("speeds, from the slowest to the fastest", () => {
  assert.deepEqual(ALL_SPEEDS, ["3 s", "1 s", 0.1, 0.25, 0.5, 1, 2, 4]);
  assert.deepEqual(ALL_SPEEDS.slice(2), SPEEDS);
  assert.deepEqual(["3 s", 0.5].map(speedWords), ["3 s per iteration", "0.5×"]);
  assert.deepEqual(["3 s", 1].map((speed) => isPaced({ speed })), [true, false]);
});

test("faster and slower, up to the ends", () => {
  const state = endedState(THREE);
  const { actions } = acted(state);
  const reached = (act, times) => Array.from({ length: times }, () => { act(); return state.speed; });
  assert.deepEqual(reached(actions.faster, 3), [2, 4, 4]);
  assert.deepEqual(reached(actions.slower, 8), [2, 1, 0.5, 0.25, 0.1, "1 s", SLOWLY, SLOWLY]);
});

test("at the real speed the clock goes on by what has passed", () => {
  const state = playing(1);
  advancePlay(state, 0.2);
  near(state.clock, 0.2);
  assert.equal(state.moment, state.clock);
  advance(state, 5, 0.2);
  near(state.clock, 1.2);
  assert.equal(state.shown, 1);
});

test("a long pause does not jump ahead", () => {
  const state = playing(1);
  advancePlay(state, 60);
  near(state.clock, 0.25);
});

test("what is too short to be seen is shown as it ended", () => {
  const state = playing(1, 0, endedState([0.1, 0.2, 1].map((sync, index) => iterationOf({ index, sync }))));
  advancePlay(state, 0.05);
  assert.deepEqual([state.shown, state.moment], [0, 0.1]);
});

test("at four times the speed several iterations may pass at once", () => {
  const state = playing(4, 0, endedState([0.3, 0.6, 0.9, 4].map((sync, index) => iterationOf({ index, sync }))));
  advancePlay(state, 0.2);
  assert.equal(state.shown, 2);
});

test("at the end it stops, and a run that goes on is followed from there", () => {
  for (const [state, follow] of [[endedState(THREE), false], [stateOf(THREE), true]]) {
    playing(4, 2, state);
    advance(state, 2);
    assert.deepEqual(shownIn(state), { shown: 2, playing: false, moment: null, follow });
  }
});

test("slowly, each iteration takes as long, and its end stands for a while", () => {
  const state = playing(SLOWLY);
  advance(state, 4);
  // Of three seconds, 1.65 are the clock's.
  near(state.moment, 1 / 1.65);
  const reached = [3, 5, 1].map((times) => {
    advance(state, times);
    return [state.moment, state.rest, state.shown];
  });
  assert.deepEqual(reached, [[1, 0, 0], [1, 1.25, 0], [1, 0, 1]]);
  advance(state, 2 * 13);
  assert.deepEqual(shownIn(state), { shown: 2, playing: false, moment: null, follow: false });
});

test("what an iteration adds is written when it has ended", () => {
  const state = endedState(THREE);
  assert.deepEqual([null, 1.5, 2].map((moment) => writtenUpTo({ ...state, shown: 1, moment })), [1, 0, 1]);
  assert.equal(writtenUpTo({ iterations: [], shown: -1, moment: null }), -1);
});

test("choosing by hand stays within the run, and ends playing and following", () => {
  const state = stateOf(THREE);
  const { actions, calls } = acted(state);
  actions.choose(1.4);
  assert.deepEqual(shownIn(state), { shown: 1, playing: false, moment: null, follow: false });
  const { back, first, forward } = actions;
  const reached = [forward, forward, back, first, back].map((act) => {
    act();
    return state.shown;
  });
  assert.deepEqual(reached, [2, 2, 1, 0, 0]);
  assert.equal(calls.redraw, 6);
});

test("the last iteration of a run that goes on is followed", () => {
  const [live, ended] = [stateOf(THREE), endedState(THREE)];
  for (const state of [live, ended]) {
    const { actions, calls } = acted(state);
    actions.first();
    actions.last();
    assert.deepEqual(shownIn(state), { shown: 2, playing: false, moment: null, follow: state === live });
    assert.equal(calls.reset, 1);
  }
});

test("playing begins where it stands, and at the end from the beginning", () => {
  const state = endedState(THREE);
  const { actions } = acted(state);
  actions.choose(1);
  actions.togglePlay();
  assert.deepEqual([state.shown, state.clock, state.playing], [1, 1, true]);
  actions.last();
  actions.togglePlay();
  assert.deepEqual([state.shown, state.clock, state.playing], [0, 0, true]);
});

test("held in the middle of an iteration, it goes on from there", () => {
  const state = endedState(THREE);
  const { actions } = acted(state);
  actions.first();
  actions.togglePlay();
  advancePlay(state, 0.25);
  actions.togglePlay();
  assert.deepEqual(shownIn(state), { shown: 0, playing: false, moment: 0.25, follow: false });
  actions.togglePlay();
  assert.deepEqual([state.playing, state.clock], [true, 0.25]);
});

test("a run that is followed is held, and followed again", () => {
  const state = stateOf(THREE);
  const { actions } = acted(state);
  assert.equal(isMoving(state), true);
  actions.togglePlay();
  assert.equal(isMoving(state), false);
  actions.togglePlay();
  assert.deepEqual(shownIn(state), { shown: 2, playing: false, moment: null, follow: true });
});

test("watching slowly begins before the most telling iteration", () => {
  const iterations = [null, 1, 3, 2].map((sequences, index) => (
    iterationOf({ index, sync: index + 1, sequences, verdict: { outcome: "hit" } })
  ));
  const state = endedState(iterations);
  const { actions, calls } = acted(state);
  actions.watchSlowly();
  assert.deepEqual([state.shown, state.speed, state.playing, state.moment, calls.reset], [1, SLOWLY, true, 1, 1]);
});

test("before a run there is nothing to go through", () => {
  const state = endedState([]);
  const before = structuredClone(state);
  const { actions, calls } = acted(state);
  for (const act of [actions.first, actions.last, actions.forward, actions.togglePlay]) act();
  assert.deepEqual(state, before);
  assert.equal(calls.redraw, 0);
});

test("an iteration has three beats, of which the verdict has two fifths of its time at least", () => {
  globalThis.matchMedia = () => ({ matches: false });
  for (const speed of Object.keys(PACES)) {
    const draft = [{ start: 0, end: 0.3, tokens: 1 }, { start: 0.3, end: 0.6, tokens: 1 }];
    const state = playing(speed, 0, endedState([iterationOf({ draft }), iterationOf({ index: 1, sync: 2 })]));
    const seen = [];
    for (; state.shown === 0; advancePlay(state, 0.001)) seen.push([beatOf(state), sendingOf(state), isLeaving(state)]);
    const beats = seen.map(([beat]) => beat);
    assert.deepEqual(beats.filter((beat, at) => beat !== beats[at - 1]), ["guess", "check", "verdict"]);
    assert.ok(beats.filter((beat) => beat === "verdict").length >= 0.4 * beats.length, speed);
    // Tokens set out when their marks have been seen, and before the tree is cleared.
    const order = ["waits", "sends", "leaves"];
    const moving = seen.filter(([, part]) => part !== null);
    const steps = moving.map(([, part, leaves]) => order[leaves ? 2 : part < 0 ? 0 : 1]);
    assert.deepEqual(steps.filter((step, at) => step !== steps[at - 1]), order);
  }
  delete globalThis.matchMedia;
});

test("where no motion is wanted nothing moves, and the beats are the same", () => {
  const state = playing(SLOWLY);
  advance(state, 12);
  const moves = (matches, more) => {
    globalThis.matchMedia = () => ({ matches });
    return [beatOf(state), sendingOf({ ...state, ...more }) !== null, isLeaving({ ...state, ...more })];
  };
  assert.deepEqual(moves(false), ["verdict", true, true]);
  assert.deepEqual(moves(true), ["verdict", false, false]);
  assert.deepEqual(moves(false, { playing: false }), ["verdict", false, false], "held");
  assert.deepEqual(moves(false, { speed: 1 }), ["verdict", false, false], "at the real speed");
  assert.equal(beatOf({ moment: null }), "");
  delete globalThis.matchMedia;
});
