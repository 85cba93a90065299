// The player's keys: they go to the visualizer that was used last, and never to a field that is typed into.

import { listen } from "./dom.js";

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=tab], [role=slider], "
  + "[role=listbox], video, audio";
export const PRESSED = "button, a, summary, [role=button]";
export const isBrowsers = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;
export const targetOf = ({ target }) => (target instanceof Element ? target : document.body);
// Whether a key belongs to what has the focus: to a field, or where it is space, to a button. A slider has no use for
// space.
function isItsOwn(event) {
  const target = targetOf(event);
  if (event.key !== " ") return target.closest(FIELDS) !== null;
  return !target.matches(".dv-slider") && target.closest(`${FIELDS}, ${PRESSED}`) !== null;
}
export const isTaken = (event) => isBrowsers(event) || isItsOwn(event);

// Letters that act on what has the focus.
export function onKeys(node, acts) {
  node.addEventListener("keydown", (event) => {
    if (isBrowsers(event) || !acts[event.key.toLowerCase()]) return;
    event.preventDefault();
    acts[event.key.toLowerCase()]();
  });
}

function canPlay(root) {
  const box = root.getBoundingClientRect();
  return Number(root.dataset.iterations) > 0 && box.height > 0 && box.bottom > 0 && box.top < window.innerHeight;
}

// Each visualizer of a page may have a script of its own, so the page itself keeps when each one was used.
function usedLast() {
  const all = [...document.querySelectorAll(".dv")].filter(canPlay);
  return all.sort((one, other) => Number(other.dataset.used ?? 0) - Number(one.dataset.used ?? 0))[0];
}

// Returns what ends it, when the root is gone.
export function listenToKeys(root, actions) {
  const acts = {
    " ": actions.togglePlay, ArrowLeft: actions.back, ArrowRight: actions.forward, Home: actions.first, End: actions.last,
    l: actions.goLive, L: actions.goLive, "+": actions.faster, "=": actions.faster, "-": actions.slower, "−": actions.slower,
  };
  const onUse = () => { root.dataset.used = performance.now(); };
  const onKey = (event) => {
    const act = acts[event.key];
    if (!act || isTaken(event) || usedLast() !== root) return;
    event.preventDefault();
    act();
  };
  listen(root, { pointerenter: onUse, pointerdown: onUse, focusin: onUse });
  return listen(document, { keydown: onKey });
}
