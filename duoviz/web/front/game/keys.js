// The game's keys: 1 to 5 choose, and Enter goes on.

import { isBrowsers, PRESSED, targetOf } from "../visualizer/keys.js";

const TYPED = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

export function listenToKeys(root, { choose, goOn }) {
  document.addEventListener("keydown", (event) => {
    const target = targetOf(event);
    if (!root.checkVisibility() || isBrowsers(event) || target.closest(TYPED)) return;
    const isEnter = event.key === "Enter";
    if (!isEnter && !/^[1-5]$/.test(event.key)) return;
    // Held down, a key would go through a whole round.
    if (event.repeat) return event.preventDefault();
    if (isEnter && target.closest(PRESSED)) return;
    event.preventDefault();
    if (isEnter) goOn();
    else choose(Number(event.key) - 1);
  });
}
