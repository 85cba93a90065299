// Tests of player.js: going through the iterations by hand, by the clock, and slowly.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, endingAt, headerOf, iterationOf, near, stateOf } from "../testing.js";
import {
  advancePlay, beatOf, createActions, isLeaving, isMoving, mostTelling, sendingOf, speedsOf, writtenUpTo,
} from "./player.js";
import { applyEvent, beginAt, paceOfRuns, PACES, SLOWLY } from "./state.js";

// They take one second, one, and two.
const THREE = endingAt(1, 2, 4);

function playing(speed, from = 0, state = endedState(THREE)) {
  beginAt(state, from);
  return Object.assign(state, { playing: true, follow: false, speed });
}

function advance(state, times, seconds = 0.25) {
  for (let time = 0; time < times; time++) advancePlay(state, seconds);
  return state;
}

function acted(state) {
  const calls = { redraw: 0, reset: 0 };
  const actions = createActions(state, () => { calls.redraw += 1; }, () => { calls.reset += 1; });
  const reached = (value, ...names) => names.map((name) => { actions[name](); return state[value]; });
  return { actions, calls, reached };
}

const shownIn = ({ shown, playing: plays, moment, follow }) => ({ shown, playing: plays, moment, follow });

test("the most telling iteration has the most sequences of which one was taken, or else the most tokens", () => {
  const told = (...iterations) => mostTelling(iterations.map((each, index) => iterationOf({ index, ...each })));
  const telling = (sequences, outcome = "hit") => ({ sequences, verdict: { outcome } });
  const writes = (number) => ({ committed: Array(number).fill("a") });
  assert.equal(told(telling(4), telling(2), telling(3), telling(3)), 2, "the first of equals, but not the prompt's");
  assert.equal(told(telling(1), telling(2), telling(5)), 1, "more than can be taken in");
  assert.equal(told(telling(1), telling(2), telling(4, "miss"), telling(3, "rejection")), 1);
  assert.equal(told(telling(1), telling(1, "miss")), 0);
  assert.equal(told(writes(9), writes(1), writes(3), writes(5), writes(3)), 2);
  assert.equal(told(), 0);
});

test("speeds, from the slowest to the fastest, up to the ends", () => {
  const { reached } = acted(endedState(THREE));
  assert.deepEqual(reached("speed", ...Array(3).fill("faster")), [2, 4, 4]);
  assert.deepEqual(reached("speed", ...Array(8).fill("slower")), [2, 1, 0.5, 0.25, 0.1, "1 s", SLOWLY, SLOWLY]);
});

test("at the real speed the clock goes on by what has passed, but no long pause jumps ahead", () => {
  const state = advance(playing(1), 1, 0.2);
  near(state.clock, 0.2);
  assert.equal(state.moment, state.clock);
  advance(state, 5, 0.2);
  near(state.clock, 1.2);
  assert.equal(state.shown, 1);
  near(advance(playing(1), 1, 60).clock, 0.25);
});

test("what is too short to be seen is shown as it ended, and several iterations may pass at once", () => {
  const { shown, moment } = advance(playing(1, 0, endedState(endingAt(0.1, 0.2, 1))), 1, 0.05);
  assert.deepEqual([shown, moment], [0, 0.1]);
  assert.equal(advance(playing(4, 0, endedState(endingAt(0.3, 0.6, 0.9, 4))), 1, 0.2).shown, 2);
});

test("at the end it stops, and a run that goes on is followed from there", () => {
  for (const [state, follow] of [[endedState(THREE), false], [stateOf(THREE), true]]) {
    assert.deepEqual(shownIn(advance(playing(4, 2, state), 2)), { shown: 2, playing: false, moment: null, follow });
  }
});

test("slowly, a run that goes on is waited for at its last iteration, until it is to be followed; the choice is kept", () => {
  const state = Object.assign(playing(SLOWLY, 2, stateOf(THREE)), { pace: SLOWLY });
  const { actions, reached } = acted(state);
  advance(state, 40);
  assert.deepEqual([state.shown, state.playing, state.follow], [2, true, false]);
  // Held there, it is waited for again.
  assert.deepEqual(reached("playing", "togglePlay", "togglePlay", "forward", "togglePlay"), [false, true, false, true]);
  applyEvent(state, { type: "iteration", iteration: iterationOf({ index: 3, sync: 5 }) });
  assert.equal(advance(state, 14).shown, 3);
  actions.goLive();
  assert.deepEqual([state.follow, paceOfRuns()], [true, null]);
  actions.watchSlowly();
  assert.deepEqual([state.shown, state.playing, paceOfRuns()], [3, true, SLOWLY]);
  actions.faster();
  assert.equal(paceOfRuns(), "1 s");
});

test("slowly, each iteration takes as long, and its end stands for a while", () => {
  const state = advance(playing(SLOWLY), 4);
  // Of two seconds, 1.1 are the clock's.
  near(state.moment, 1 / 1.1);
  const reached = [1, 3, 1].map((times) => {
    const { moment, rest, shown } = advance(state, times);
    return [moment, rest, shown];
  });
  assert.deepEqual(reached, [[1, 0, 0], [1, 0.75, 0], [1, 0, 1]]);
  assert.deepEqual(shownIn(advance(state, 2 * 9)), { shown: 2, playing: false, moment: null, follow: false });
});

test("what an iteration adds is written when it has ended", () => {
  const state = endedState(THREE);
  assert.deepEqual([null, 1.5, 2].map((moment) => writtenUpTo({ ...state, shown: 1, moment })), [1, 0, 1]);
  assert.equal(writtenUpTo({ iterations: [], shown: -1, moment: null }), -1);
});

test("choosing by hand stays within the run, and ends playing and following", () => {
  const state = stateOf(THREE);
  const { actions, calls, reached } = acted(state);
  actions.choose(1.4);
  assert.deepEqual(shownIn(state), { shown: 1, playing: false, moment: null, follow: false });
  assert.deepEqual(reached("shown", "forward", "forward", "back", "first", "back"), [2, 2, 1, 0, 0]);
  assert.equal(calls.redraw, 6);
});

test("playing begins where it stands, goes on where it was held, and begins anew at the end; a run is followed there", () => {
  const { actions, reached } = acted(endedState(THREE));
  actions.choose(1);
  assert.deepEqual(reached("clock", "togglePlay", "togglePlay", "last", "togglePlay"), [1, 1, 1, 0]);
  const state = stateOf(THREE);
  const live = acted(state);
  assert.equal(isMoving(state), true);
  live.actions.togglePlay();
  assert.equal(isMoving(state), false);
  live.actions.togglePlay();
  assert.deepEqual(shownIn(state), { shown: 2, playing: false, moment: null, follow: true });
  assert.equal(live.calls.reset, 1);
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

test("an iteration has three beats, of which the verdict has two fifths of its time at least", (context) => {
  globalThis.matchMedia = () => ({ matches: false });
  context.after(() => { delete globalThis.matchMedia; });
  for (const speed of Object.keys(PACES)) {
    const draft = [{ start: 0, end: 0.3, tokens: 1 }, { start: 0.3, end: 0.6, tokens: 1 }];
    const state = playing(speed, 0, endedState([iterationOf({ draft }), iterationOf({ index: 1, sync: 2 })]));
    const seen = [];
    for (; state.shown === 0; advancePlay(state, 0.001)) seen.push([beatOf(state), sendingOf(state), isLeaving(state)]);
    const changes = (list) => list.filter((each, at) => each !== list[at - 1]);
    const beats = seen.map(([beat]) => beat);
    assert.deepEqual(changes(beats), ["guess", "guess check", "check", "verdict"]);
    assert.ok(beats.filter((beat) => beat === "verdict").length >= 0.4 * beats.length, speed);
    // Tokens set out when their marks have been seen, and before the tree is cleared.
    const moving = seen.filter(([, part]) => part !== null);
    const steps = moving.map(([, part, leaves]) => (leaves ? "leaves" : part < 0 ? "waits" : "sends"));
    assert.deepEqual(changes(steps), ["waits", "sends", "leaves"]);
  }
  globalThis.matchMedia = () => ({ matches: true });
  assert.equal(sendingOf(advance(playing(SLOWLY), 12)), null, "where no motion is wanted");
});

test("where times are not known it goes by iterations, also where the trace counts none", () => {
  const header = headerOf({ clock: "iterations" });
  assert.deepEqual(speedsOf(header), Object.keys(PACES));
  for (const times of [[1, 2, 3], [0, 0, 0]]) {
    const state = endedState(endingAt(...times), header);
    const { actions, reached } = acted(state);
    assert.deepEqual([state.speed, ...reached("speed", "faster", "slower", "slower")], ["1 s", "1 s", SLOWLY, SLOWLY]);
    actions.setSpeed("1 s");
    actions.togglePlay();
    const shown = Array.from({ length: 20 }, () => advance(state, 1).shown);
    assert.deepEqual([new Set(shown), state.playing], [new Set([0, 1, 2]), false]);
  }
});
