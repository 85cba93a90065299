// How high the tree's box stays.

// On a narrow page what stands below the tree is not to jump from iteration to iteration: the box keeps the greatest
// height that the run has had at this width.
export function createReach(box) {
  let [reached, reachedIn] = [0, ""];
  return (height, run) => {
    [reached, reachedIn] = [run === reachedIn ? Math.max(reached, height) : height, run];
    box.style.setProperty("--dv-reached", `${Math.ceil(reached)}px`);
  };
}
