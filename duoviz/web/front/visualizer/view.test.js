// Tests of view.js: what part of the clock is in view, and how pointer and keys move it.

import assert from "node:assert/strict";
import test from "node:test";
import { iterationOf, near } from "../testing.js";
import { addPointer, addTimelineKeys, createView } from "./view.js";

// A hundred iterations, a second each.
const HUNDRED = Array.from({ length: 100 }, (_, index) => (
  iterationOf({ index, target: { start: index, end: index + 0.9, rows: 1 }, sync: index + 1 })
));

const stateAt = (shown, more = {}) => ({ iterations: HUNDRED, shown, follow: false, moment: null, speed: 1, ...more });

function assertView(view, start, end) {
  near(view.start, start);
  near(view.end, end);
}

test("twelve iterations up to one", () => {
  const view = createView(stateAt(20));
  view.showWindow(20);
  assertView(view, 9 - 0.12, 9 - 0.12 + 12.24);
  view.showWindow(3);
  assertView(view, -0.04, 4.04);
});

test("the whole run, with a little beside it", () => {
  const view = createView(stateAt(20));
  view.whole();
  assertView(view, -1, 101);
  assert.equal(view.auto, false);
});

test("zooming keeps the time under the pointer where it is", () => {
  const view = createView(stateAt(20));
  view.whole();
  view.zoom(0.5, 50);
  assertView(view, 24.5, 75.5);
  view.zoom(0.5);
  assertView(view, 37.25, 62.75);
  // No farther out than the run, no closer than half a millisecond.
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
  assert.equal(view.auto, false);
});

test("it follows a run that comes in, and what is chosen outside of it", () => {
  const state = stateAt(20, { follow: true });
  const view = createView(state);
  view.follow();
  assertView(view, 8.88, 21.12);
  Object.assign(state, { follow: false, shown: 15 });
  view.follow();
  assertView(view, 8.88, 21.12);
  state.shown = 50;
  view.follow();
  // From iteration 45 to 56: six come after it.
  assertView(view, 45 - 0.12, 45 - 0.12 + 12.24);
});

test("moved by hand, it keeps its span", () => {
  const state = stateAt(20);
  const view = createView(state);
  view.showWindow(20);
  view.pan(0);
  const span = view.end - view.start;
  state.shown = 60;
  view.follow();
  assertView(view, 60.5 - span / 2, 60.5 + span / 2);
});

test("played slowly, an iteration is shown with two on either side", () => {
  const view = createView(stateAt(50, { moment: 50.5, speed: "3 s" }));
  view.follow();
  assertView(view, 48, 53);
});

test("nothing to follow before a run", () => {
  const view = createView({ iterations: [], shown: -1 });
  view.follow();
  assert.deepEqual([view.start, view.end, view.auto], [0, 0, true]);
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
  addPointer(drawing, view, {
    redraw: () => calls.push("redraw"),
    choose: (position) => calls.push(`choose ${position}`), hover: (position) => calls.push(`hover ${position}`),
  });
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
  assert.deepEqual(calls, ["choose 7"]);
});

test("a drag moves the view with the pointer, and chooses none", () => {
  const { drawing, view, calls } = pointed();
  view.zoom(0.5, 50);
  drawing.send("pointerdown");
  drawing.send("pointermove", { clientX: 60 });
  drawing.send("pointerup");
  // Ten of a hundred pixels, of 51 seconds.
  assertView(view, 24.5 - 5.1, 75.5 - 5.1);
  assert.deepEqual(calls, ["redraw"]);
});

test("what is pointed at is told", () => {
  const { drawing, calls } = pointed();
  drawing.send("pointermove");
  delete drawing.dataset.iteration;
  drawing.send("pointermove");
  drawing.send("pointerleave");
  assert.deepEqual(calls, ["hover 7", "hover -1", "hover -1"]);
});

test("the wheel zooms at the pointer", () => {
  const { drawing, view } = pointed();
  drawing.send("wheel", { deltaY: -100 });
  // The pointer is in the middle, at 50 seconds.
  assertView(view, 50 - 51 * Math.exp(-0.2), 50 + 51 * Math.exp(-0.2));
  const span = view.end - view.start;
  drawing.send("wheel", { deltaY: -1e6 });
  near(view.end - view.start, span * Math.exp(-0.4));
});

test("W, S, A and D zoom and pan; with Ctrl they are the browser's", () => {
  const [drawing, view] = [new Drawing(), createView(stateAt(20))];
  let drawn = 0;
  addTimelineKeys(drawing, view, () => { drawn += 1; });
  view.whole();
  for (const key of ["w", "S"]) drawing.send("keydown", { key });
  assertView(view, -1, 101);
  drawing.send("keydown", { key: "w" });
  const { start, end } = view;
  drawing.send("keydown", { key: "d" });
  near(view.start, start + 0.15 * (end - start));
  drawing.send("keydown", { key: "a" });
  near(view.start, start);
  assert.equal(drawn, 5);
  const others = [{ key: "w", ctrlKey: true }, { key: "x" }, { key: "a", metaKey: true }, { key: "d", altKey: true }];
  for (const more of others) drawing.send("keydown", more);
  assertView(view, start, end);
  assert.equal(drawn, 5);
});
