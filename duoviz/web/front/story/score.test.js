// Tests of score.js: the steps of a stop, and the clock that their motions are held with.

import { createScore, createScript } from "./teller.js";
import assert from "node:assert/strict";
import test from "node:test";

test("steps are run in their order, those beside others at their time", () => {
  const script = createScript();
  const ran = [];
  script.wait(1);
  script.later(2, () => ran.push("beside"));
  script.act(() => ran.push("first"), 1.5);
  script.act(() => ran.push("second"));
  assert.equal(script.length(), 2.5);
  script.inOrder().forEach(({ run }) => run());
  assert.deepEqual(ran, ["first", "second", "beside"]);
});

// Frames that a test lets pass: a number of them, of a tenth of a second each.
function frames() {
  let [asked, time] = [null, 0];
  globalThis.requestAnimationFrame = (run) => {
    asked = run;
    return 1;
  };
  return (number) => {
    for (let frame = 0; frame < number && asked; frame++) {
      const run = asked;
      [asked, time] = [null, time + 100];
      run(time);
    }
  };
}

test("a score that is held stands still with its motions, and goes on where it was", () => {
  const pass = frames();
  const motion = {
    playState: "running",
    pause() { this.playState = "paused"; },
    play() { this.playState = "running"; },
  };
  const ran = [];
  const score = createScore({ getAnimations: () => [motion] }, () => {});
  score.play([{ at: 0.25, run: () => ran.push("step") }], 1, () => ran.push("end"));
  pass(2);
  score.hold();
  pass(50);
  assert.deepEqual([ran, score.goes(), motion.playState], [[], false, "paused"]);
  score.goOn();
  assert.equal(motion.playState, "running");
  pass(4);
  assert.deepEqual(ran, ["step"]);
  // Nor does it go on out of sight.
  score.see(false);
  pass(50);
  assert.deepEqual(ran, ["step"]);
  score.see(true);
  pass(50);
  assert.deepEqual([ran, score.isOver()], [["step", "end"], true]);
});
