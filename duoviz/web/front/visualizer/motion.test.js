// Tests of motion.js: when is drawn.

import assert from "node:assert/strict";
import test from "node:test";
import { createFrames } from "./motion.js";

test("two drawings are as far apart as they are to be, and each gets the time that has passed", (context) => {
  const asked = [];
  globalThis.requestAnimationFrame = (run) => asked.push(run);
  context.after(() => delete globalThis.requestAnimationFrame);
  const drawn = [];
  const frames = createFrames((seconds) => drawn.push(seconds) < 3, () => 60);
  frames.ask();
  for (let time = 0; asked.length; time += 20) asked.shift()(time);
  assert.deepEqual(drawn, [0, 0.06, 0.06]);
});
