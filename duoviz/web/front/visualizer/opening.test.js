// Tests of opening.js: what of a run is there again after a reload.

import assert from "node:assert/strict";
import test from "node:test";
import { recordingOf } from "../testing.js";
import { eventsOfLeft, fetchRecording, leftOf } from "./opening.js";
import { addToRun, emptyRun, eventsOf, stateAfter } from "./state.js";

const TRACE = recordingOf("vanilla");
const EVENTS = eventsOf(TRACE);
const TOO_LATE = { type: "error", message: "Too late." };

function runAfter(...events) {
  const run = emptyRun();
  for (const event of events) addToRun(run, event);
  return run;
}

async function broughtBack(...asLeft) {
  const left = JSON.parse(JSON.stringify(leftOf(...asLeft)));
  const { phase, message, shown, iterations } = stateAfter(await eventsOfLeft(left));
  return [phase, message, shown, iterations.length];
}

test("what was shown of a run is there again, and what ended says so", async () => {
  const count = TRACE.iterations.length;
  const finished = stateAfter(EVENTS).message;
  const cut = "The page was reloaded during the run; the earlier part is kept.";
  const before = "The page was reloaded before your next run began; this is the one before.";
  assert.deepEqual(await broughtBack(runAfter(...EVENTS), 3, false), ["done", finished, 3, count]);
  assert.deepEqual(await broughtBack(runAfter(...EVENTS.slice(0, 7)), 4, true), ["done", cut, 4, 5]);
  assert.deepEqual(await broughtBack(runAfter(...EVENTS), 3, true), ["done", before, 3, count]);
  assert.deepEqual(await broughtBack(runAfter(...EVENTS.slice(0, 7), TOO_LATE), 4, false), ["error", "Too late.", 4, 5]);
});

test("what the large model wrote after it is there again, to be compared", async () => {
  const last = EVENTS.at(-1);
  const [left, alone] = [leftOf(runAfter(...EVENTS, { type: "alone", last, run: TRACE }), 3, false), { ...TRACE, last }]
    .map((value) => JSON.parse(JSON.stringify(value)));
  assert.deepEqual(stateAfter(await eventsOfLeft(left)).alone, alone);
});

test("nothing is kept of a recording; of a run that had not begun, that it was waited for", async () => {
  const recorded = runAfter(...eventsOf(TRACE, "recording"));
  for (const run of [recorded, emptyRun()]) {
    assert.equal(leftOf(run, 3, false), null);
    const left = leftOf(run, 3, true);
    assert.equal(left.trace, null);
    assert.equal(await eventsOfLeft(left), null);
  }
  assert.equal(await eventsOfLeft({ trace: { ...TRACE, iterations: [{}] }, last: null, shown: 0, told: null }), null);
});

test("a recording that does not come is asked for again, and given up in the end", async (t) => {
  const answers = [() => Promise.reject(new Error("lost")), async () => new Response("", { status: 503 })];
  const fetched = t.mock.method(globalThis, "fetch", () => (answers.shift() ?? (async () => Response.json(TRACE)))());
  assert.equal((await fetchRecording("there", [1, 1])).prompt, TRACE.prompt);
  assert.equal(fetched.mock.callCount(), 3);
  answers.push(async () => new Response("", { status: 404 }));
  assert.equal(await fetchRecording("there", []), null);
});
