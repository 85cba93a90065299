// The first screen over the stage: it opens at a first visit, or with its button, and then gives way.

import { textButton } from "../visualizer/dom.js";
import { ALONE, setSeen, TOLD } from "../story/story.js";
import { createFirstScreen } from "./first_screen.js";

export const NO_FIRST_SCREEN = { isOpen: () => false, close() {}, open() {} };

// root: the visualizer's. recordingOf: gives a method's recorded run, a promise; expected: see `createFirstScreen`;
// hold: keeps the stage still behind it; tell: opens the story; onClose: called when the stage is seen again.
export function createOverStage(root, { recordingOf, expected, hold, tell, onClose }) {
  let [isOpen, screen] = [false, null];
  const button = textButton("Side by side", () => open().then(() => screen?.node.focus({ preventScroll: true })));
  button.classList.add("dv-story-open");
  root.querySelector(".dv-top").append(button);
  async function open() {
    const [told, alone] = await Promise.all([TOLD, ALONE].map(recordingOf));
    screen ??= told && alone && createFirstScreen({
      told, alone, expected, look: () => close(button), tell: () => { leave(); tell(); },
    });
    if (!screen || isOpen) return;
    isOpen = true;
    hold();
    root.append(screen.node);
    root.dataset.first = "";
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
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isOpen) close(button);
  });
  return { isOpen: () => isOpen, open, close };
}
