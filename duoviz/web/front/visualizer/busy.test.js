// Tests of busy.js: what the lanes have in common, and what of them lies between two times.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, iterationOf, near, recordings } from "../testing.js";
import { addSpans, busyBetween, eachBetween, emptyLanes, iterationEndingAt } from "./busy.js";

// The target is busy from 0 to 2 and from 3 to 5, the draft from 1 to 4.
const LANES = { target: [{ start: 0, end: 2 }, { start: 3, end: 5 }], draft: [{ start: 1, end: 4 }] };

function between(lane, from, to) {
  const found = [];
  eachBetween(lane, from, to, (span) => found.push(span));
  return found;
}

function assertBusy(lanes, [from, to], expected) {
  const busy = busyBetween(lanes, from, to);
  for (const side of ["target", "draft", "both"]) near(busy[side], expected[side]);
}

test("an iteration's spans, each with its place and how many tokens it has", () => {
  const lanes = emptyLanes();
  addSpans(lanes, iterationOf({ target: { start: 1, end: 3, rows: 5 }, draft: [{ start: 0, end: 2, tokens: 37 }] }), 7);
  assert.deepEqual(lanes, {
    target: [{ start: 1, end: 3, size: 5, position: 7 }], draft: [{ start: 0, end: 2, size: 37, position: 7 }],
  });
});

test("a draft step is counted with every forward that it lies beside", () => {
  const step = (start, end) => ({ start, end, tokens: 1 });
  const adding = (lanes) => (start, end, ...draft) => (
    addSpans(lanes, iterationOf({ target: { start, end, rows: 1 }, draft }), 0));
  const [add, other, last] = [1, 2, 3].map(() => adding(emptyLanes()));
  assert.deepEqual([add(0, 1), add(1, 2)], [0, 0]);
  near(add(2.5, 3.5, step(0.5, 3)), 0.5 + 1 + 0.5);
  near(add(3.5, 4, step(3.25, 3.75)), 0.25 + 0.25);
  // A step may go on into the next forward.
  near(other(0, 1, step(0.5, 3)), 0.5);
  near(other(2, 4), 1);
  assert.equal(last(1, 2, step(0, 1), step(2, 3)), 0, "spans that only touch are not busy at once");
});

test("how long the lanes are busy", () => {
  assertBusy(LANES, [0, 5], { target: 4, draft: 3, both: 2 });
  assertBusy(LANES, [1.5, 3.5], { target: 1, draft: 2, both: 1 });
  assertBusy(LANES, [2, 3], { target: 0, draft: 1, both: 0 });
  assertBusy(LANES, [6, 7], { target: 0, draft: 0, both: 0 });
  assertBusy(emptyLanes(), [0, 5], { target: 0, draft: 0, both: 0 });
});

test("the spans that have a part between two times", () => {
  const [first, second] = LANES.target;
  assert.deepEqual(between(LANES.target, 0.5, 1), [first]);
  assert.deepEqual(between(LANES.target, 1, 4), [first, second]);
  assert.deepEqual(between(LANES.target, 2.5, 2.6), []);
  assert.deepEqual(between(LANES.target, 2, 3), [first, second], "to the edge");
  assert.deepEqual(between([], 0, 1), []);
});

test("the first iteration that ends at a time or later", () => {
  const iterations = [1, 2, 4].map((sync) => ({ sync }));
  assert.deepEqual([0, 1, 1.5, 4, 5].map((time) => iterationEndingAt(iterations, time)), [0, 0, 1, 2, 3]);
  assert.equal(iterationEndingAt([], 1), 0);
});

test("over a whole recording it is what the running sums say", () => {
  for (const { header, iterations } of recordings()) {
    const { lanes, totals } = endedState(iterations, header);
    near(busyBetween(lanes, 0, iterations.at(-1).sync).both, totals.at(-1).both);
  }
});
