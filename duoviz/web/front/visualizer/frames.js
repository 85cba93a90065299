// One drawing a frame, and only where something asks for it.

// draw: called with the seconds since the frame before, 0 after a rest; returns whether to go on with the next frame.
export function createFrames(draw) {
  let frame = 0, last = null;
  const ask = () => { frame ||= requestAnimationFrame(run); };
  function run(time) {
    frame = 0;
    const goesOn = draw(last === null ? 0 : (time - last) / 1000);
    last = goesOn ? time : null;
    if (goesOn) ask();
  }
  return { ask, stop: () => cancelAnimationFrame(frame) };
}
