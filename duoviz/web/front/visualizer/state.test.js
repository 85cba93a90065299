// Tests of state.js: what each event adds to what is known of a run, and the figures of the run so far.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, near, recordings, stateOf, tokenOf } from "../testing.js";
import {
  addToRun, applyEvent, beginAt, beginOf, emptyRun, emptyState, eventsOf, isLive, runningNumbers, spanOf, tokensBefore,
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

function told(...events) {
  const run = emptyRun();
  events.forEach((event) => addToRun(run, event));
  return run;
}

test("sums run up to each iteration", () => {
  const { totals } = stateOf(THREE, BESIDE);
  const counts = totals.map(({ tokens, forwards, tested, accepted, ttft }) => (
    [tokens, forwards, tested, accepted, ttft]
  ));
  assert.deepEqual(counts, [[1, 1, 0, 0, 1], [4, 2, 3, 2, 1], [6, 3, 5, 3, 1]]);
  totals.forEach(({ both }, position) => near(both, [0, 0.5, 1.8][position]));
});

test("the figures so far", () => {
  const numbers = runningNumbers(stateOf(THREE, BESIDE), 2);
  const expected = { tps: 6 / 4, tau: 6 / 3, acceptance: 3 / 5, overlap: 1.8 / 4, ttft: 1 };
  for (const [name, value] of Object.entries(expected)) near(numbers[name], value);
});

test("the figures at an earlier iteration know nothing of what comes after", () => {
  const [late, early] = [THREE, THREE.slice(0, 2)].map((iterations) => stateOf(iterations, BESIDE));
  assert.deepEqual(runningNumbers(late, 1), runningNumbers(early, 1));
});

test("what a run has no figure for", () => {
  assert.deepEqual(runningNumbers(emptyState(), -1), {});
  assert.equal(runningNumbers(stateOf(THREE), 2).overlap, null, "the models share a core");
  assert.equal(runningNumbers(stateOf(THREE), 0).acceptance, null, "nothing has been tested");
  const { tps, overlap } = runningNumbers(stateOf([iterationOf({ sync: 0 })], BESIDE), 0);
  assert.deepEqual([tps, overlap], [null, null], "no time has passed");
});

test("the first token may come later than the first iteration", () => {
  const state = stateOf([iterationOf({ sync: 1 }), iterationOf({ index: 1, sync: 3, committed: ["A"] })]);
  assert.deepEqual([0, 1].map((position) => runningNumbers(state, position).ttft), [null, 3]);
});

test("the text before each iteration, by its last 80 characters", () => {
  const { tails } = stateOf(THREE, headerOf({ prompt: "x".repeat(100) }));
  assert.equal(tails[0], `${"x".repeat(79)}\n`);
  assert.equal(tails[2], `${"x".repeat(67)}\nA rainbow is`);
  assert.equal(tails.length, THREE.length + 1);
  assert.ok(tails.every((tail) => tail.length === 80));
});

test("where iterations stand on the clock", () => {
  assert.deepEqual(spanOf(THREE, 0), { begin: 0, end: 1 });
  assert.deepEqual(spanOf(THREE, 2), { begin: 2, end: 4 });
  assert.deepEqual(THREE.map(beginOf), [0, 1, 1.5]);
  const state = endedState(THREE);
  assert.deepEqual([0, 1, 2].map((position) => tokensBefore(state, position)), [0, 1, 4]);
  beginAt(state, 2);
  assert.deepEqual([state.shown, state.clock, state.moment, state.rest], [2, 2, 2, 0]);
});

test("a run is followed while it comes, and live until it has ended", () => {
  const state = stateOf(THREE);
  assert.deepEqual([state.shown, state.message, isLive(state)], [2, "Running.", true]);
  apply(state, { type: "end", end: { stopped: "eos" }, metrics: { tps: 1.5 } });
  assert.deepEqual([state.phase, state.message], ["done", "Finished: the target ended its answer."]);
  assert.deepEqual([state.metrics.tps, isLive(state)], [1.5, false]);
});

test("a recording that is shown is no live run", () => {
  const reset = { type: "reset", file: "duotree", recorded: true };
  const state = apply(emptyState(), reset, { type: "iteration", iteration: THREE[0] });
  assert.deepEqual([state.phase, state.message, isLive(state)], ["running", "Loading.", false]);
});

test("what is chosen by hand stays while the run goes on", () => {
  const state = Object.assign(stateOf(THREE.slice(0, 2)), { follow: false, shown: 0 });
  apply(state, { type: "iteration", iteration: THREE[2] });
  assert.equal(state.shown, 0);
});

test("the iteration that a link holds is where following ends", () => {
  const hold = { type: "hold", iteration: 1 };
  const state = apply(emptyState(), { type: "reset" }, hold, { type: "header", header: headerOf() });
  apply(state, ...THREE.map((iteration) => ({ type: "iteration", iteration })));
  assert.deepEqual([state.shown, state.follow], [1, false]);
});

test("a new run begins anew, and keeps the speed that the visitor chose", () => {
  const state = apply(Object.assign(endedState(THREE), { speed: 0.5 }), { type: "reset" });
  assert.deepEqual(state, { ...emptyState(), epoch: 2, phase: "running", speed: 0.5 });
});

test("a recording's own speed does not outlast it", () => {
  const reset = { type: "reset", recorded: true };
  const state = apply(emptyState(), reset, { type: "iteration", iteration: THREE[0] }, { type: "play", speed: "3 s" });
  assert.deepEqual([state.speed, state.playing, state.moment], ["3 s", true, 0]);
  assert.equal(apply(state, { type: "reset" }).speed, 1);
});

test("how a run ended, in words", () => {
  const ends = [
    [{ end: { stopped: "time" } }, "done", "Stopped: the time limit was reached."],
    [{ end: { stopped: "stopped", message: "The server is closing." } }, "done", "The server is closing."],
    [{ end: { stopped: "error" } }, "error", "The run failed."],
    [{ end: null }, "done", "The trace is incomplete: it ends before its run did."],
    [{ end: { stopped: "length" }, note: "SpS was faster." },
      "done", "Finished: the limit on new tokens was reached. SpS was faster."],
  ];
  for (const [event, phase, message] of ends) {
    const state = apply(stateOf(THREE), { type: "end", ...event });
    assert.deepEqual([state.phase, state.message], [phase, message]);
  }
});

test("words while nothing has come", () => {
  const state = endedState(THREE);
  const said = [
    [{ type: "waiting" }, "waiting", ""], [{ type: "status", text: "Two come first." }, "waiting", "Two come first."],
    [{ type: "kept", text: "Never begun." }, "done", "Never begun."],
    [{ type: "error", message: "No room." }, "error", "No room."],
  ];
  for (const [event, phase, message] of said) {
    apply(state, event);
    assert.deepEqual([state.phase, state.message, state.iterations.length], [phase, message, 3]);
  }
});

test("a lost connection, and its return", () => {
  const [lost, back] = [{ type: "connection", lost: true }, { type: "connection", lost: false }];
  const state = apply(stateOf(THREE), lost);
  const words = "The connection to the server was lost; the earlier part is kept.";
  assert.deepEqual([state.phase, state.message], ["lost", words]);
  apply(state, back);
  assert.deepEqual([state.phase, state.message], ["running", "Running."]);
  assert.equal(apply(stateOf([]), lost).message, "The connection to the server was lost.");
  const ended = endedState(THREE);
  const before = structuredClone(ended);
  assert.deepEqual(apply(ended, lost, back), before, "an ended run loses nothing");
});

test("a run as its feed tells it", () => {
  const [header, end] = [headerOf(), { stopped: "eos" }];
  const last = { type: "end", end, metrics: { tps: 2 } };
  const [reset, iteration] = [{ type: "reset", file: "duotree" }, { type: "iteration", iteration: THREE[0] }];
  const run = told(reset, { type: "header", header }, iteration, last);
  const expected = { file: "duotree", header, iterations: [THREE[0]], end, metrics: { tps: 2 }, last, lost: false };
  assert.deepEqual(run, expected);
  addToRun(run, { type: "connection", lost: true });
  assert.equal(run.lost, true);
  addToRun(run, { type: "reset" });
  assert.deepEqual(run, emptyRun());
  const failed = { type: "error", message: "No room." };
  assert.deepEqual(told(failed), { ...emptyRun(), last: failed });
});

test("the events of a trace show it again", () => {
  const run = { header: BESIDE, iterations: THREE, end: { stopped: "eos" }, metrics: null };
  const events = eventsOf(run, "a file");
  assert.deepEqual(events.map(({ type }) => type), ["reset", "header", "iteration", "iteration", "iteration", "end"]);
  const { header, iterations, end, metrics, file } = told(...events);
  assert.deepEqual({ header, iterations, end, metrics, file }, { ...run, file: "a file" });
  const failed = { type: "error", message: "No room." };
  assert.deepEqual(eventsOf(run, null, failed).at(-1), failed);
});

test("every recording is shown to its end", () => {
  for (const trace of recordings()) {
    const state = apply(emptyState(), ...eventsOf(trace, trace.header.method));
    const text = trace.iterations.flatMap(({ committed }) => committed.map((token) => token.text)).join("");
    assert.equal(state.phase, "done");
    assert.equal(state.iterations.length, trace.iterations.length);
    assert.equal(state.tails.at(-1), (trace.header.prompt + text).slice(-80));
    assert.equal(text, trace.end.text);
  }
});
