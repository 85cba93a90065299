// Where a trace that is no live run comes from: what it is of, when, where and with what it was made.

import { el, setText } from "./dom.js";
import { clip, visible } from "./words.js";
import { aboutOf } from "./methods.js";
import { isTimed } from "./state.js";

// The browser's own names take it longer than a frame to find, the first time.
const MONTHS = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
];
const LONGEST_PROMPT = 80;
const words = (value, length) => clip(visible(value), length);

// A device's label ends with the machine's name: "CPU core 1 (AMD EPYC)". The timeline names the cores.
export const machineOf = (label) => / \((.*)\)$/.exec(label)?.[1] ?? label;
export function devicesWords({ target, draft }) {
  const labels = [target, draft].map((side) => side?.device).filter(Boolean);
  const machines = new Set(labels.map(machineOf));
  return words([...(machines.size > 1 ? labels : machines)].join(" and "), 200);
}

export function dateWords(date) {
  const day = new Date(typeof date === "string" ? date : NaN);
  if (Number.isNaN(day.getTime())) return "";
  return ` on ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
}

// What was run, and how fast the machine was then, as far as the header says.
export function modelsWords({ target: { name, precision }, draft, one_token: seconds }) {
  const made = precision ? ` in ${words(precision, 20)}` : "";
  const speed = seconds ? `, ${(1000 * seconds).toFixed(1)} ms a pass` : "";
  const drafts = draft?.name ? ` Small model: ${words(draft.name, 60)}.` : "";
  return name ? ` Large model: ${words(name.replace(/ \(.*\)$/, ""), 60)}${made}${speed}.${drafts}` : "";
}

// Another engine's trace may not say where it ran.
export function originWords(header) {
  const devices = devicesWords(header);
  const times = isTimed(header) ? "" : " Its times are not known.";
  return ` ${words(aboutOf(header).name, 60)}, recorded${dateWords(header.date)}${devices && ` on ${devices}`}.${times}`;
}

export function createOrigin({ state }) {
  const [made, target] = [el("span"), el("span", { class: "dv-origin-target" })];
  const prompt = el("q", { class: "dv-isolated" });
  const node = el("p", { class: "dv-origin" }, el("b", {}, "A recording, not a live run."), made, target, " Prompt: ", prompt);
  let told = null;
  return {
    node,
    draw() {
      node.hidden = !state.file || !state.header;
      if (node.hidden || told === state.header) return;
      told = state.header;
      setText(made, originWords(told));
      setText(target, modelsWords(told));
      setText(prompt, words(told.prompt.trim(), LONGEST_PROMPT));
    },
  };
}
