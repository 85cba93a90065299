// The first screen over the stage: it opens at a first visit, or with its button, and then gives way.

import { textButton } from "../visualizer/dom.js";
import { ALONE, listenToKeys, setSeen, TOLD } from "../story/story.js";
import { createFirstScreen } from "./first_screen.js";

// root: the visualizer's. recordingOf: gives a method's recorded run, a promise; expected: see `createFirstScreen`;
// ownRuns: gives the visitor's own run and the large model's of the same prompt, null where not both are shown; hold:
// keeps the stage still behind it; tell: opens the story; onClose: called when the stage is seen again.
export function createOverStage(root, { recordingOf, ownRuns, expected, averages, hold, tell, onClose }) {
  let [isOpen, screen, method] = [false, null, TOLD];
  const button = textButton("Side by side", () => open().then(() => screen?.node.focus({ preventScroll: true })));
  button.classList.add("dv-story-open");
  root.querySelector(".dv-top").append(button);
  const screenOf = ([told, alone], more) => told && alone && createFirstScreen({
    told, alone, averages, look: () => close(button), tell: () => { leave(); tell(); }, ...more,
  });
  async function make(own) {
    const asked = method;
    const recorded = { isRecorded: true, expected: asked === TOLD ? expected : null };
    return (own && screenOf(own, { isRecorded: false, expected: null }))
      || screenOf(await Promise.all([asked, ALONE].map(recordingOf)), recorded);
  }
  // isWanted: whether it is still, when its runs have come; own: see `ownRuns`.
  async function open({ isWanted = () => true, own = ownRuns() } = {}) {
    const next = await make(own);
    if (!next || isOpen || !isWanted()) return;
    isOpen = true;
    hold();
    root.dataset.first = "";
    screen = next;
    root.append(screen.node);
    screen.play();
  }
  function leave() {
    setSeen();
    isOpen = false;
    delete root.dataset.first;
    screen.stop();
    screen.node.remove();
  }
  function close(next = null) {
    if (!isOpen) return;
    const isFree = screen.node.contains(document.activeElement) || document.activeElement === document.body;
    leave();
    if (next && isFree) (next.checkVisibility() ? next : root).focus({ preventScroll: true });
    onClose();
  }
  listenToKeys(() => isOpen && screen.node.checkVisibility(), { " ": () => screen.toggle(), Escape: () => close(button) });
  // of: another method is chosen, and raced against the large model alone when this opens again without an own run.
  return { isOpen: () => isOpen, open, close, of(name) { if (name !== ALONE) method = name; } };
}
