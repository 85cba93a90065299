// Tests of timeline.js: what part of the clock is in view, what of it each lane is idle and both are busy, and how far
// an axis's ticks are apart.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, near } from "../testing.js";
import { createView, lentPath, scaleOf, sharesInView, tickLabel, tickStep } from "./timeline.js";

test("ticks are one, two or five times a power of ten apart, and no more than wanted", () => {
  const steps = [
    [10, 10, 1], [10, 5, 2], [10, 4, 5], [10, 1.5, 10], [7, 7, 1], [128, 4, 50], [0.03, 4, 0.01], [0.0005, 3, 0.0002],
  ];
  for (const [span, ticks, step] of steps) near(tickStep(span, ticks), step);
});

test("shares of the run that is in view, and nothing of an overlap where both take turns or one is alone", () => {
  // The target is busy from 0 to 3 and the draft from 2 to 4, of five seconds.
  const iterations = [
    iterationOf({ target: { start: 0, end: 3, rows: 1 }, draft: [{ start: 2, end: 4, tokens: 1 }], sync: 5 }),
  ];
  const parallel = { about: { parallel: true }, can_overlap: true };
  const cases = [
    [parallel, [-1, 9], [0, 5, 2 / 5, 3 / 5, 1 / 5]], [parallel, [2.5, 4.5], [2.5, 4.5, 1.5 / 2, 0.5 / 2, 0.5 / 2]],
    [{}, [-1, 9], [0, 5, 2 / 5, 3 / 5, null]], [{ draft: null, can_overlap: true }, [-1, 9], [0, 5, 2 / 5, null, null]],
  ];
  for (const [header, [start, end], expected] of cases) {
    const { from, to, target, draft, overlap } = sharesInView(endedState(iterations, headerOf(header)), { start, end });
    [from, to, target, draft, overlap].forEach((value, at) => near(value, expected[at]));
  }
});

test("a lent core works for the target from the draft's last step to the end of the target's pass", () => {
  const target = { start: 1, end: 5, rows: 1 };
  const iterations = [iterationOf({ target, draft: [{ start: 1, end: 2, tokens: 1 }], sync: 5 })];
  const view = { start: 0, end: 10 };
  const stateOf = (borrows) => endedState(iterations, headerOf({ target: { name: "large", device: "", borrows } }));
  const pathOf = (borrows) => lentPath(stateOf(borrows), view, scaleOf(view, 100));
  assert.equal(pathOf(true), "M20.00 59H50.00v22H20.00Z");
  assert.equal(pathOf(false), "");
  // A lent core is not idle.
  const sharesOf = (borrows, end) => sharesInView(stateOf(borrows), { start: 0, end });
  const cases = [[true, 10, 3 / 5, 1 / 5], [true, 4, 2 / 4, 1 / 4], [false, 10, null, 4 / 5]];
  cases.forEach(([borrows, end, lent, idle]) => {
    near(sharesOf(borrows, end).lent, lent);
    near(sharesOf(borrows, end).draft, idle);
  });
});

// A hundred iterations, a second each.
const HUNDRED = Array.from({ length: 100 }, (_, index) => (
  iterationOf({ index, target: { start: index, end: index + 0.9, rows: 1 }, sync: index + 1 })
));
const stateAt = (shown, more = {}) => ({ iterations: HUNDRED, shown, follow: false, moment: null, speed: 1, ...more });

function assertView(view, start, end) {
  near(view.start, start);
  near(view.end, end);
}

test("twelve iterations up to one, or the whole run with a little beside it", () => {
  const view = createView(stateAt(20));
  view.showWindow(20);
  assertView(view, 9 - 0.12, 9 - 0.12 + 12.24);
  view.showWindow(3);
  assertView(view, -0.04, 4.04);
  view.whole();
  assertView(view, -1, 101);
  assert.equal(view.auto, false);
});

test("zooming keeps the time under the pointer where it is, within the run and half a millisecond", () => {
  const view = createView(stateAt(20));
  view.whole();
  view.zoom(0.5, 50);
  assertView(view, 24.5, 75.5);
  view.zoom(0.5);
  assertView(view, 37.25, 62.75);
  view.zoom(100, 50);
  assertView(view, -5.5, 104.5);
  view.zoom(1e-9, 50);
  near(view.end - view.start, 0.0005);
});

test("it follows a run that comes in, and what is chosen outside of it; moved by hand, it keeps its span", () => {
  const state = stateAt(20, { follow: true });
  const view = createView(state);
  const follow = (more) => {
    Object.assign(state, more);
    view.follow();
    return view;
  };
  assertView(follow(), 8.88, 21.12);
  assertView(follow({ follow: false, shown: 15 }), 8.88, 21.12);
  // From iteration 45 to 56: six come after it.
  assertView(follow({ shown: 50 }), 45 - 0.12, 45 - 0.12 + 12.24);
  view.panBy(0);
  assertView(follow({ shown: 60 }), 60.5 - 12.24 / 2, 60.5 + 12.24 / 2);
  view.auto = true;
  assertView(follow({ shown: 50, moment: 50.5, speed: "2 s" }), 48, 53);
  const empty = createView({ iterations: [], shown: -1 });
  empty.follow();
  assertView(empty, 0, 0);
});

test("a long run's times are in seconds, and a short one's in milliseconds", () => {
  assert.deepEqual([tickLabel(25.5, 26), tickLabel(0.5, 26), tickLabel(0.25, 0.9)], ["25.5 s", "0.5 s", "250 ms"]);
});
