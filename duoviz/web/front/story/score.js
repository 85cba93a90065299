// What happens at a stop, and when: steps on one clock, which can be held, and with it all motion.

import { createFrames } from "../visualizer/frames.js";

// A hidden tab must not jump ahead.
const LONGEST_FRAME = 0.1;

// Steps in their order: `act` takes its seconds, and what comes next follows it.
export function createScript() {
  const steps = [];
  let at = 0;
  return {
    length: () => at,
    inOrder: () => steps.toSorted((one, other) => one.at - other.at),
    wait(seconds) { at += seconds; },
    act(run, seconds = 0) {
      steps.push({ at, run });
      at += seconds;
    },
    // Beside what follows: at that many seconds from now.
    later(seconds, run) { steps.push({ at: at + seconds, run }); },
  };
}

// root: whatever moves is inside of it; onChange: called when the clock starts to go or stands still.
export function createScore(root, onChange) {
  let [steps, next, clock, length, onEnd] = [[], 0, 0, 0, null];
  let [isHeld, inSight, isOver] = [false, true, true];
  const goes = () => !isHeld && inSight && !isOver;
  const frames = createFrames((seconds) => {
    if (!goes()) return false;
    clock += Math.min(LONGEST_FRAME, seconds);
    while (next < steps.length && steps[next].at <= clock) steps[next++].run();
    if (clock < length) return true;
    isOver = true;
    onChange();
    onEnd();
    return goes();
  });
  const change = (set) => {
    const before = goes();
    set();
    if (before !== goes()) moveOn();
    onChange();
  };
  function moveOn() {
    const [from, act] = goes() ? ["paused", "play"] : ["running", "pause"];
    for (const motion of root.getAnimations({ subtree: true })) if (motion.playState === from) motion[act]();
    frames.ask();
  }
  return {
    isOver: () => isOver,
    goes,
    // Plays these steps from the first, and calls `then` when so many seconds are over.
    play(inOrder, seconds, then) {
      [steps, next, clock, length, onEnd] = [inOrder, 0, 0, seconds, then];
      change(() => { [isHeld, isOver] = [false, false]; });
      frames.ask();
    },
    hold: () => change(() => { isHeld = true; }),
    goOn: () => change(() => { isHeld = false; }),
    see: (isSeen) => change(() => { inSight = isSeen; }),
    stop: () => change(() => { isOver = true; }),
  };
}
