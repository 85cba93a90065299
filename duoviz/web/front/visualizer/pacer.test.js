// Tests of pacer.js: work goes on within a slice, and lets others have their turn between two.

import assert from "node:assert/strict";
import test from "node:test";
import { createPacer } from "./pacer.js";

test("within a slice the work goes on, and after it others have a turn, after which a new one begins", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const pace = createPacer();
  // Whether others have a turn while the work pauses at each of these milliseconds.
  const letOthers = async (...times) => {
    let isTheirTurn = false;
    setImmediate(() => { isTheirTurn = true; });
    for (now of times) await pace();
    return isTheirTurn;
  };
  assert.equal(await letOthers(1, 2, 3, 4, 5, 6, 7), false);
  assert.equal(await letOthers(9, 18, 27), true);
  assert.equal(await letOthers(34), false);
});
