// Tests of state.js: what each event adds to what is known of a run; tests/web/front holds its figures to Python's.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, near, recordings, stateOf, tokenOf } from "../testing.js";
import {
  applyEvent, busyBetween, eachBetween, emptyState, eventsOf, isLive, iterationEndingAt, runningNumbers,
  SLOWLY, tellsCandidates, textBefore,
} from "./state.js";

const BESIDE = headerOf({ can_overlap: true });

// Both models work at once from 1.0 to 1.5, from 1.5 to 1.8 (a step that comes with the next iteration), and from 2.0
// to 3.0 seconds.
const THREE = [
  iterationOf({ target: { start: 0, end: 0.9, rows: 36 }, sync: 1, committed: ["A"] }),
  iterationOf({
    index: 1, target: { start: 1, end: 1.8, rows: 4 }, draft: [{ start: 1, end: 1.5, tokens: 1 }], sync: 2,
    committed: [tokenOf(" rain", "draft"), tokenOf("bow", "draft"), " is"],
    verdict: { outcome: "rejection", tested: 3, accepted: 2 },
  }),
  iterationOf({
    index: 2, target: { start: 2, end: 3.5, rows: 3 }, sync: 4,
    draft: [{ start: 1.5, end: 2.5, tokens: 1 }, { start: 2.5, end: 3, tokens: 1 }],
    committed: [tokenOf(" a", "draft"), " circle"], verdict: { outcome: "rejection", tested: 2, accepted: 1 },
  }),
];

function apply(state, ...events) {
  for (const event of events) applyEvent(state, event);
  return state;
}

test("the figures so far, and what a run has no figure for", () => {
  const expected = { tps: 6 / 4, tau: 6 / 3, acceptance: 3 / 5, overlap: 1.8 / 4, ttft: 1 };
  const numbers = runningNumbers(stateOf(THREE, BESIDE), 2);
  for (const [name, value] of Object.entries(expected)) near(numbers[name], value);
  assert.deepEqual(runningNumbers(emptyState(), -1), {});
  assert.equal(runningNumbers(stateOf(THREE), 2).overlap, null, "the models share a core");
  assert.equal(runningNumbers(stateOf(THREE), 0).acceptance, null, "nothing has been tested");
  const { tps, overlap, ttft } = runningNumbers(stateOf([iterationOf({ sync: 0 })], BESIDE), 0);
  assert.deepEqual([tps, overlap, ttft], [null, null, null], "no time has passed, and no token has come");
});

test("a run is followed while it comes, and live until it has ended; a recording never is", () => {
  const state = stateOf(THREE);
  assert.deepEqual([state.shown, state.message, isLive(state)], [2, "Running.", true]);
  apply(state, { type: "end", end: { stopped: "eos" }, metrics: { tps: 1.5 } });
  assert.deepEqual([state.phase, state.metrics.tps, isLive(state)], ["done", 1.5, false]);
  const reset = { type: "reset", file: "duotree", recorded: true };
  const recording = apply(emptyState(), reset, { type: "iteration", iteration: THREE[0] });
  assert.deepEqual([recording.phase, recording.message, isLive(recording)], ["running", "Loading.", false]);
});

test("what was wrong with a question goes when it changes, and what failed on its way stays", () => {
  const [refused, changed] = [[{ type: "waiting" }, { type: "error", message: "Empty." }], { type: "changed" }];
  const shown = apply(stateOf(THREE), { type: "end", end: { stopped: "eos" } });
  const { message } = shown;
  assert.equal(apply(shown, ...refused, ...refused).message, "Empty.");
  apply(shown, changed);
  assert.deepEqual([shown.phase, shown.message], ["done", message]);
  assert.equal(apply(emptyState(), { type: "reset" }, refused[1], changed).phase, "empty");
  assert.equal(apply(stateOf(THREE), { type: "error", message: "Failed." }, changed).message, "Failed.");
});

test("what is chosen by hand stays while the run goes on, and a link's iteration is where following ends", () => {
  const state = Object.assign(stateOf(THREE.slice(0, 2)), { follow: false, shown: 0 });
  assert.equal(apply(state, { type: "iteration", iteration: THREE[2] }).shown, 0);
  const hold = { type: "hold", iteration: 1 };
  const held = apply(emptyState(), { type: "reset" }, hold, { type: "header", header: headerOf() });
  apply(held, ...THREE.map((iteration) => ({ type: "iteration", iteration })));
  assert.deepEqual([held.shown, held.follow], [1, false]);
});

test("at a pace, a run is played from its first iteration while it comes; not to a link's iteration, nor without guesses", () => {
  const runOf = (header, ...more) => apply(emptyState(), { type: "reset", pace: SLOWLY }, ...more, { type: "header", header },
    ...THREE.map((iteration) => ({ type: "iteration", iteration })));
  const watched = ({ shown, playing, speed, follow }) => [shown, playing, speed, follow];
  assert.deepEqual(watched(runOf(headerOf())), [0, true, SLOWLY, false]);
  assert.deepEqual(watched(runOf(headerOf(), { type: "hold", iteration: 1 })), [1, false, 1, false]);
  assert.deepEqual(watched(runOf(headerOf({ about: { proposers: [] } }))), [2, false, 1, true]);
});

test("a run that ends is played on, and one that is cut stands still", () => {
  const ends = [{ type: "end", end: { stopped: "eos" } }, { type: "end", end: { stopped: "stopped" } }, { type: "error", message: "No." }];
  const plays = ends.map((end) => apply(stateOf(THREE), { type: "play", speed: SLOWLY }, end).playing);
  assert.deepEqual(plays, [true, false, false]);
});

test("a new run begins anew, at the speed that the visitor chose, not at a recording's own", () => {
  const state = apply(Object.assign(endedState(THREE), { speed: 0.5 }), { type: "reset" });
  assert.deepEqual(state, { ...emptyState(), epoch: 2, phase: "running", speed: 0.5 });
  const [reset, play] = [{ type: "reset", recorded: true }, { type: "play", speed: SLOWLY }];
  const recording = apply(emptyState(), reset, { type: "iteration", iteration: THREE[0] }, play);
  assert.deepEqual([recording.speed, recording.playing, recording.moment], [SLOWLY, true, 0]);
  assert.equal(apply(recording, { type: "reset" }).speed, 1);
});

test("what is said", () => {
  const [lost, back] = [true, false].map((isLost) => ({ type: "connection", lost: isLost }));
  const [running, ended] = [() => stateOf(THREE), () => endedState(THREE)];
  const end = (stopped, message, note) => ({ type: "end", end: stopped && { stopped, message }, note });
  const told = "6 tokens in 4.00\u00a0s: 3 passes instead of 6.";
  const finished = `Finished: the limit on new tokens was reached. ${told}`;
  const said = [
    [running, [end("eos")], "done", `Finished: the large model ended its answer. ${told}`],
    [running, [end("stopped", "The server is closing.")], "done", "The server is closing."],
    [running, [end("error")], "error", "The run failed."],
    [running, [end(null)], "done", "The trace is incomplete: it ends before its run did."],
    [running, [end("length", undefined, "SpS was faster.")], "done", `${finished} SpS was faster.`],
    [ended, [{ type: "waiting" }], "waiting", ""],
    [ended, [{ type: "waiting" }, { type: "status", text: "Two come first." }], "waiting", "Two come first."],
    [ended, [{ type: "kept", text: "Never begun." }], "done", "Never begun."],
    [ended, [{ type: "error", message: "No room." }], "error", "No room."],
    [running, [lost], "lost", "The connection to the server was lost; the earlier part is kept."],
    [running, [lost, back], "running", "Running."],
    [() => stateOf([]), [lost], "lost", "The connection to the server was lost."],
    [ended, [lost, back], "done", finished],
  ];
  for (const [begin, events, phase, message] of said) {
    const state = apply(begin(), ...events);
    assert.deepEqual([state.phase, state.message], [phase, message]);
  }
});

test("every recording is shown to its end", () => {
  for (const trace of recordings()) {
    const state = apply(emptyState(), ...eventsOf(trace, trace.header.method));
    const text = trace.iterations.flatMap(({ committed }) => committed.map((token) => token.text)).join("");
    assert.deepEqual([state.phase, state.iterations.length], ["done", trace.iterations.length]);
    assert.equal(textBefore(state, state.iterations.length), `${trace.header.prompt}\n${text}`.slice(-80));
    assert.equal(textBefore(state, 0), `${trace.header.prompt}\n`.slice(-80));
    assert.equal(text, trace.end.text);
  }
});

test("between two times: the spans that have a part there, and how long the lanes are busy", () => {
  // The target is busy from 0 to 2 and from 3 to 5, the draft from 1 to 4.
  const lanes = { target: [{ start: 0, end: 2 }, { start: 3, end: 5 }], draft: [{ start: 1, end: 4 }] };
  const between = (from, to) => {
    const starts = [];
    eachBetween(lanes.target, from, to, ({ start }) => starts.push(start));
    return starts;
  };
  const found = [[0.5, 1], [1, 4], [2.5, 2.6], [2, 3]].map(([from, to]) => between(from, to));
  assert.deepEqual(found, [[0], [0, 3], [], [0, 3]]);
  const busy = [[0, 5, 4, 3, 2], [1.5, 3.5, 1, 2, 1], [2, 3, 0, 1, 0], [6, 7, 0, 0, 0]];
  for (const [from, to, target, draft, both] of busy) {
    assert.deepEqual(busyBetween(lanes, from, to), { target, draft, both });
  }
  assert.deepEqual([0, 1, 1.5, 4, 5].map((time) => iterationEndingAt(THREE, time)), [0, 0, 1, 2, 3]);
});

test("the draft's candidates have a place unless a whole trace with a draft tells of none", () => {
  const candidates = [{ id: 1, text: "a", p: 0.5, over: true }];
  const one = [iterationOf({ candidates })];
  const states = [stateOf([iterationOf()]), endedState(one), endedState([])];
  assert.deepEqual(states.map(tellsCandidates), [true, true, true]);
  assert.equal(tellsCandidates(endedState([iterationOf()])), false);
  assert.equal(tellsCandidates(endedState(one, headerOf({ draft: null }))), false);
});

test("after a run its message says that the large model runs alone, and then what came of it", () => {
  const state = endedState(THREE, BESIDE);
  const ended = state.message;
  apply(state, { type: "alone", last: null }, { type: "alone", last: null });
  assert.deepEqual([state.isCompared, state.message], [true, `${ended} Now the large model writes it alone, for the side-by-side view.`]);
  apply(state, { type: "alone", last: {}, note: "It was slower." });
  assert.deepEqual([state.isCompared, state.message], [false, `${ended} It was slower.`]);
  // What it wrote is kept: of a whole run of the same text, on a machine that was not busy.
  const [same, other] = [{ iterations: THREE }, { iterations: THREE.slice(1) }];
  const keptOf = (end, run = same) => {
    apply(state, { type: "alone", last: { end }, run });
    return state.alone && state.alone.iterations;
  };
  const kept = [{ stopped: "length" }, { stopped: "stopped" }, { stopped: "eos", message: "It was busy." }].map((end) => keptOf(end));
  assert.deepEqual([...kept, keptOf({ stopped: "eos" }, other)], [THREE, null, null, null]);
});
