// Tests of busy.js: what the lanes have in common, and what of them lies between two times.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, iterationOf, near, recordings } from "../testing.js";
import { addSpans, busyBetween, eachBetween, emptyLanes, iterationEndingAt } from "./busy.js";

test("an iteration's spans, and a draft step is counted with every forward that it lies beside", () => {
  const lanes = emptyLanes();
  const add = (start, end, ...draft) => addSpans(lanes, iterationOf({ target: { start, end, rows: 5 }, draft }), 7);
  assert.deepEqual([add(0, 1), add(1, 2)], [0, 0]);
  near(add(2.5, 3.5, { start: 0.5, end: 3, tokens: 37 }), 0.5 + 1 + 0.5);
  assert.deepEqual(lanes.draft, [{ start: 0.5, end: 3, size: 37, position: 7 }]);
  assert.deepEqual(lanes.target[2], { start: 2.5, end: 3.5, size: 5, position: 7 });
  // A step may go on into the next forward; spans that only touch are not busy at once.
  near(add(3.5, 4, { start: 3.25, end: 4.5, tokens: 1 }), 0.25 + 0.5);
  near(add(4.5, 6), 0);
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
});

test("the first iteration that ends at a time or later", () => {
  const iterations = [1, 2, 4].map((sync) => ({ sync }));
  assert.deepEqual([0, 1, 1.5, 4, 5].map((time) => iterationEndingAt(iterations, time)), [0, 0, 1, 2, 3]);
});

test("over a whole recording it is what the running sums say", () => {
  for (const { header, iterations } of recordings()) {
    const { lanes, totals } = endedState(iterations, header);
    near(busyBetween(lanes, 0, iterations.at(-1).sync).both, totals.at(-1).both);
  }
});
