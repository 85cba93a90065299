// Tests of what a link says of the story, and of the clock that its motions are held with.

import assert from "node:assert/strict";
import test from "node:test";
import { storyIn } from "../share/link.js";
import { createScore, createScript } from "./score.js";

test("a link may name a stop, and the story opens by itself where nothing of a run is named", () => {
  assert.deepEqual(storyIn(""), { stop: null, mayOpen: true });
  assert.deepEqual(storyIn("#story=3"), { stop: 3, mayOpen: true });
  assert.deepEqual(storyIn("#theme=dark&present=1"), { stop: null, mayOpen: true });
  for (const wrong of ["0", "8", "x", "03", ""]) assert.equal(storyIn(`#story=${wrong}`).stop, null);
  for (const own of ["prompt=Hi", "iteration=3", "tab=lab", "method=vanilla", "controls=play"]) {
    assert.equal(storyIn(`#${own}`).mayOpen, false);
    assert.deepEqual(storyIn(`#${own}&story=2`), { stop: 2, mayOpen: false });
  }
});

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
