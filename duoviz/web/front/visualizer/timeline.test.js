// Tests of timeline.js: what part of the clock is in view, how pointer and keys move it, what of it each
// lane is idle and both are busy, and how far an axis's ticks are apart.

import assert from "node:assert/strict";
import test from "node:test";
import { endedState, headerOf, iterationOf, near } from "../testing.js";
import { tickLabel, tickStep, addPointer, addTimelineKeys, createView, sharesInView } from "./timeline.js";

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

test("panning ends where half the view is beyond the run", () => {
  const view = createView(stateAt(20));
  view.showWindow(20);
  const span = view.end - view.start;
  view.pan(1000);
  assertView(view, 100 - span / 2, 100 + span / 2);
  view.pan(-2000);
  assertView(view, -0.05 * span, 0.95 * span);
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
  view.pan(0);
  assertView(follow({ shown: 60 }), 60.5 - 12.24 / 2, 60.5 + 12.24 / 2);
  view.auto = true;
  assertView(follow({ shown: 50, moment: 50.5, speed: "3 s" }), 48, 53);
  const empty = createView({ iterations: [], shown: -1 });
  empty.follow();
  assertView(empty, 0, 0);
});

// A drawing of 100 pixels at the page's left edge, whose bar of iteration 7 is always under the pointer.
class Drawing extends EventTarget {
  dataset = { iteration: "7" };
  getBoundingClientRect() { return { left: 0, width: 100 }; }
  setPointerCapture() {}
  send(type, more = {}) {
    this.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), { button: 0, clientX: 50, ...more }));
  }
}

function pointed() {
  const [drawing, view, calls] = [new Drawing(), createView(stateAt(20)), []];
  view.whole();
  const tell = (name) => (position) => calls.push(position === undefined ? name : `${name} ${position}`);
  addPointer(drawing, view, { redraw: tell("redraw"), choose: tell("choose"), hover: tell("hover") });
  addTimelineKeys(drawing, view, tell("redraw"));
  return { drawing, view, calls };
}

test("a press chooses an iteration, but not with other buttons or when it was called off", () => {
  const { drawing, calls } = pointed();
  const gestures = [
    ["pointerdown", { button: 2 }], ["pointerup"], ["pointerdown"], ["pointercancel"], ["pointerup"],
    ["pointerdown"], ["pointermove", { clientX: 52 }],
  ];
  for (const gesture of gestures) drawing.send(...gesture);
  assert.deepEqual(calls, []);
  drawing.send("pointerup");
  for (const type of ["pointermove", "pointerleave"]) drawing.send(type);
  assert.deepEqual(calls, ["choose 7", "hover 7", "hover -1"]);
});

test("a drag moves the view with the pointer, and the wheel zooms there", () => {
  const { drawing, view, calls } = pointed();
  view.zoom(0.5, 50);
  drawing.send("pointerdown");
  drawing.send("pointermove", { clientX: 60 });
  drawing.send("pointerup");
  // Ten of a hundred pixels, of 51 seconds.
  assertView(view, 24.5 - 5.1, 75.5 - 5.1);
  assert.deepEqual(calls, ["redraw"]);
  view.zoom(1, 50);
  for (const [deltaY, factor] of [[-100, Math.exp(-0.2)], [-1e6, Math.exp(-0.4)]]) {
    const [span, middle] = [view.end - view.start, (view.start + view.end) / 2];
    drawing.send("wheel", { deltaY });
    assertView(view, middle - (span * factor) / 2, middle + (span * factor) / 2);
  }
});

test("W, S, A and D zoom and pan; with Ctrl they are the browser's", () => {
  const { drawing, view, calls } = pointed();
  const press = (...keys) => keys.forEach((key) => drawing.send("keydown", typeof key === "string" ? { key } : key));
  press("w", "S");
  assertView(view, -1, 101);
  press("w");
  const { start, end } = view;
  press("d");
  near(view.start, start + 0.15 * (end - start));
  press("a", { key: "w", ctrlKey: true }, "x", { key: "a", metaKey: true }, { key: "d", altKey: true });
  assertView(view, start, end);
  assert.equal(calls.length, 5);
});

test("a long run's times are in seconds, and a short one's in milliseconds", () => {
  assert.deepEqual([tickLabel(25.5, 26), tickLabel(0.5, 26), tickLabel(0.25, 0.9)], ["25.5 s", "0.5 s", "250 ms"]);
});
