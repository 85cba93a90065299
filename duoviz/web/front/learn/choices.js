// Things that may be clicked to answer a question: by pointer, and by keyboard one after another.

import { listen, setAttributes } from "../visualizer/dom.js";

const MOVED = 5;

// Bars of other iterations than the one shown can be clicked, but are too many to go through by keyboard.
const isFarAway = ({ dataset: { iteration } }, root) => iteration !== undefined && iteration !== root.closest("[data-shown]").dataset.shown;

// root: where they stand and are drawn anew at times; act: called with the one chosen. Returns what ends it.
export function listenToChoices(root, choices, act) {
  let pressed = null;
  const choiceOf = (target) => (target instanceof Element ? target.closest(choices) : null);
  const offer = () => {
    for (const node of root.querySelectorAll(choices)) {
      if (node.getAttribute("role") === "button" || isFarAway(node, root)) continue;
      setAttributes(node, { tabindex: "0", role: "button" });
    }
  };
  // Pointers are captured by the timeline, so that only where one was pressed tells what was meant.
  const onDown = (event) => { pressed = { node: choiceOf(event.target), x: event.clientX, y: event.clientY }; };
  const onUp = (event) => {
    const still = pressed?.node && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= MOVED;
    if (still) act(pressed.node);
    pressed = null;
  };
  const onKey = (event) => {
    if ((event.key !== "Enter" && event.key !== " ") || choiceOf(event.target) !== event.target) return;
    event.preventDefault();
    event.stopPropagation();
    act(event.target);
  };
  const stop = listen(root, { pointerdown: onDown, pointerup: onUp, keydown: onKey }, { capture: true });
  const drawn = new MutationObserver(offer);
  drawn.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
  root.classList.add("dl-choosing");
  // What can be pressed may not lie inside of what is announced as one picture.
  const pictures = [...root.querySelectorAll("svg[role=img]")];
  for (const picture of pictures) picture.setAttribute("role", "group");
  offer();
  return () => {
    drawn.disconnect();
    root.classList.remove("dl-choosing");
    for (const picture of pictures) picture.setAttribute("role", "img");
    stop();
    for (const node of root.querySelectorAll(`:is(${choices})[tabindex]`)) {
      // What is explained where it stands keeps its place among the keys.
      if (!node.matches("[data-meaning]")) node.removeAttribute("tabindex");
      node.removeAttribute("role");
    }
  };
}
