// The story in the place of the stage: it opens from the first screen, a link or its button, and then gives way.

import { isPresented, textButton } from "../visualizer/dom.js";
import { isTaken, onKeys } from "../visualizer/keys.js";
import { remember, remembered } from "../visualizer/remembered.js";
import { storyIn } from "../share/link.js";
import { barsOf } from "./averages.js";
import { stopsOf } from "./stops.js";
import { createTeller } from "./teller.js";

// The recorded runs that tell it: its own, and the large model alone.
export const TOLD = "duodecoding";
export const ALONE = "vanilla";

const SEEN_KEY = "duoviz story";
// What Escape closes before the story or the first screen.
const OPENED = ".dv-menu[open], .label-wrap.open";
const isAnyOpened = () => [...document.querySelectorAll(OPENED)].some((opened) => opened.checkVisibility());

// The keys of what stands over the stage, before the player behind it hears them. Presented, Escape ends the
// presentation and leaves what is shown where it is. acts: by their keys.
export const listenToKeys = (isShown, acts) => onKeys(window, acts, (event) => (
  isShown() && !isTaken(event) && !(event.key === "Escape" && (isPresented() || isAnyOpened()))), true);

// Whether something opens by itself over the stage: at a first visit, where neither the link nor the query says what is
// to be seen.
export const setSeen = () => remember(SEEN_KEY, "seen");
export const opensItself = () => (
  remembered(SEEN_KEY) === null && storyIn(location.hash).mayOpen && !new URLSearchParams(location.search).has("controls"));

// root: the visualizer's. recordingOf: gives a method's recorded run, a promise of null where there is none; hold:
// keeps the stage still behind it; onClose: called when the stage is seen again, with the last iteration that was told,
// null where none was; prompt: gives the field for a prompt; averages: see `barsOf`.
export function createStory(root, { recordingOf, averages, hold, onClose, prompt }) {
  let [isOpen, stops] = [false, null];
  const teller = createTeller({ skip: () => close(button), finish: () => close(prompt()) });
  const button = textButton("How it works", () => open(1, true));
  button.classList.add("dv-story-open");
  teller.node.hidden = true;
  root.append(teller.node);
  root.querySelector(".dv-top").append(button);

  async function open(number, takesFocus = false) {
    if (!isOpen) hold();
    isOpen = true;
    root.dataset.story = number;
    teller.node.hidden = false;
    const [told, alone] = await Promise.all([TOLD, ALONE].map(recordingOf));
    stops ??= told ? stopsOf(told, alone, barsOf(told.header, averages)) : [];
    if (!isOpen) return;
    if (!stops.length) return leave();
    teller.begin(stops, number);
    if (takesFocus) teller.node.focus({ preventScroll: true });
  }
  // The focus would be lost with what is hidden; of those who use the page meanwhile, it stays where it is.
  function leave(next = null) {
    if (!isOpen) return;
    const isFree = teller.node.contains(document.activeElement) || document.activeElement === document.body;
    isOpen = false;
    delete root.dataset.story;
    teller.end();
    teller.node.hidden = true;
    if (next && isFree) (next.checkVisibility() ? next : root).focus({ preventScroll: true });
    onClose(stops?.findLast(({ iteration }) => iteration)?.iteration.index ?? null);
  }
  function close(next = null) {
    if (isOpen) setSeen();
    leave(next);
  }
  // Opens it at the stop that the page's link names, where that names one.
  const openLinked = () => {
    const { stop, mayOpen } = storyIn(location.hash);
    if (stop === null) return false;
    // A link that names no tab may be followed on another one.
    if (mayOpen && !root.checkVisibility()) document.getElementById(`${root.closest("[id^=tab-]")?.id}-button`)?.click();
    open(stop);
    return true;
  };
  addEventListener("hashchange", openLinked);
  listenToKeys(() => isOpen && teller.node.checkVisibility(), {
    " ": teller.toggle, ArrowLeft: teller.back, ArrowRight: teller.forward, Escape: () => close(button),
  });
  // The stop shown; null where the story is closed.
  const stop = () => (isOpen ? Number(teller.node.dataset.stop) : null);
  return { isOpen: () => isOpen, stop, close, open, openLinked };
}
