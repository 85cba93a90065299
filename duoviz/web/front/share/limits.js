// What a link leaves on the page of all that can be pressed or set: `controls=step,play`, of the tab that it opens.

import { el } from "../visualizer/dom.js";
import { isTaken } from "../visualizer/keys.js";

const CONTROLS = {
  prompt: "#ask, #prompts, #ask-race, #race-settings",
  files: ".dv-files, .dv-menu-files",
  step: ".dv-buttons .dv-button:not([aria-label=Play], [aria-label=Pause])",
  play: ".dv-buttons .dv-button:is([aria-label=Play], [aria-label=Pause]), .dv-controls > .dv-button",
  slider: ".dv-slider",
  speed: ".dv-speed",
  zoom: ".dv-timeline .dv-tools",
  pages: ".dl-pages :is(.dv-button, a)",
  lessons: ".dl-contents ol",
  live: ".dl-live",
};
const KEY_CONTROLS = {
  " ": "play", ArrowLeft: "step", ArrowRight: "step", Home: "step", End: "step", l: "step", L: "step",
  "+": "speed", "=": "speed", "-": "speed", "−": "speed", w: "zoom", s: "zoom", a: "zoom", d: "zoom", W: "zoom", S: "zoom", A: "zoom", D: "zoom",
};

export const isControl = (name) => Object.hasOwn(CONTROLS, name);

const limits = new Map();

export const controlsOf = (tab) => limits.get(tab);

export function hidingRule([tab, controls]) {
  const selectors = Object.keys(CONTROLS).filter((name) => !controls.includes(name)).map((name) => CONTROLS[name]);
  return selectors.length ? `#tab-${tab} :is(${selectors.join(", ")}) { display: none !important; }` : "";
}

// Leaves only these controls on the tab. As rules, for a tab may not be drawn before it is opened.
export function limitControls(tab, controls) {
  limits.set(tab, controls);
  document.getElementById("controls")?.remove();
  document.head.append(el("style", { id: "controls" }, [...limits].map(hidingRule).join("\n")));
}

export function limitKeys(selected) {
  document.addEventListener("keydown", (event) => {
    const controls = controlsOf(selected());
    const control = KEY_CONTROLS[event.key];
    if (!controls || !control || controls.includes(control) || isTaken(event)) return;
    // The tree's W, S, A and D move in it: there they are no zoom.
    if (control === "zoom" && !event.target.closest?.(".dv-timeline")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
}
