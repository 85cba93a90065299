// Tests of pacer.js: work goes on within a slice, and lets others have their turn between two.

import assert from "node:assert/strict";
import test from "node:test";
import { createPacer } from "./pacer.js";

// Whether others have had a turn after the work has paused so many times, each time this many milliseconds later.
async function letOthers(t, times, milliseconds) {
  let [now, isTheirTurn] = [0, false];
  t.mock.method(performance, "now", () => now);
  const pace = createPacer();
  setImmediate(() => { isTheirTurn = true; });
  for (let time = 0; time < times; time++) {
    now += milliseconds;
    await pace();
  }
  return isTheirTurn;
}

test("within a slice the work goes on", async (t) => {
  assert.equal(await letOthers(t, 7, 1), false);
});

test("after each slice others have a turn", async (t) => {
  assert.equal(await letOthers(t, 3, 9), true);
});

test("a new slice begins after the turn", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const pace = createPacer();
  now = 9;
  await pace();
  let isTheirTurn = false;
  setImmediate(() => { isTheirTurn = true; });
  now = 16;
  await pace();
  assert.equal(isTheirTurn, false);
});
