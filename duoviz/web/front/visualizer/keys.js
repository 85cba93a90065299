// The player's keys: they go to the visualizer that was used last, and never to a field that is typed into.

import { listen } from "./dom.js";

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=tab], [role=slider], "
  + "[role=listbox], video, audio";
export const PRESSED = "button, a, summary, [role=button]";
export const isBrowsers = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;
export const targetOf = ({ target }) => (target instanceof Element ? target : document.body);
// Whether a key is the browser's, or belongs to what has the focus: to a field, or where it is space, to a button. A
// slider has no use for space.
export function isTaken(event) {
  const target = targetOf(event);
  if (isBrowsers(event) || event.key !== " ") return isBrowsers(event) || target.closest(FIELDS) !== null;
  return !target.matches(".dv-slider") && target.closest(`${FIELDS}, ${PRESSED}`) !== null;
}

// Has keys act where they are pressed in a node. acts: by their keys, letters by the small one; isMeant: whether an
// event is for them. With `capture` nobody else hears them. Returns what ends it.
export function onKeys(node, acts, isMeant = (event) => !isBrowsers(event), capture = false) {
  return listen(node, {
    keydown(event) {
      // A field that the browser fills in tells of a key without a name.
      const act = acts[event.key] ?? acts[event.key?.toLowerCase()];
      if (!act || !isMeant(event)) return;
      event.preventDefault();
      if (capture) event.stopImmediatePropagation();
      act();
    },
  }, { capture });
}

// Each visualizer of a page may have a script of its own, so the page itself keeps when each one was used.
function usedLast() {
  const canPlay = (root) => {
    const box = root.getBoundingClientRect();
    return Number(root.dataset.iterations) > 0 && box.height > 0 && box.bottom > 0 && box.top < window.innerHeight;
  };
  const usedAt = ({ dataset: { used = 0 } }) => Number(used);
  return [...document.querySelectorAll(".dv")].filter(canPlay).sort((one, other) => usedAt(other) - usedAt(one))[0];
}

// Returns what ends it, when the root is gone.
export function listenToKeys(root, actions) {
  const acts = {
    " ": actions.togglePlay, ArrowLeft: actions.back, ArrowRight: actions.forward, Home: actions.first, End: actions.last,
    l: actions.goLive, "+": actions.faster, "=": actions.faster, "-": actions.slower, "−": actions.slower,
  };
  const onUse = () => { root.dataset.used = performance.now(); };
  listen(root, { pointerenter: onUse, pointerdown: onUse, focusin: onUse });
  return onKeys(document, acts, (event) => !isTaken(event) && usedLast() === root);
}
