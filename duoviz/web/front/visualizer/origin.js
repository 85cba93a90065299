// Where a trace that is no live run comes from: what it is of, when, where and with what it was made.

import { el, setText } from "./dom.js";
import { clip, visible } from "./words.js";
import { aboutOf } from "./methods.js";
import { isTimed } from "./state.js";

// The browser's own names take it longer than a frame to find, the first time.
const MONTHS = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
];
const LONGEST_PROMPT = 200;
const words = (value, length) => clip(visible(value), length);

// A device's label ends with the machine's name: "CPU core 1 (AMD EPYC)". The timeline names the cores.
export const machineOf = (label) => / \((.*)\)$/.exec(label)?.[1] ?? label;
export const coresOf = ({ device }) => device.replace(/ \(.*\)$/, "");
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

// A model's name and precision; what a name has in brackets says how it was stored.
export function modelWords({ name, precision }) {
  return name ? `${words(name.replace(/ \(.*\)$/, ""), 60)}${precision ? ` in ${words(precision, 20)}` : ""}` : "";
}

// How fast the machine was then, as far as the header says.
const speedWords = ({ one_token: seconds }) => (seconds ? `, ${(1000 * seconds).toFixed(1)} ms a pass of one token` : "");

export const placeWords = (header) => `, on ${devicesWords(header)}${dateWords(header.date)}`;

export function modelsWords(header) {
  const [large, small] = [header.target, header.draft ?? {}].map(modelWords);
  return large ? ` Large model: ${large}${speedWords(header)}.${small && ` Small model: ${small}.`}` : "";
}

// Another engine's trace may not say where it ran.
export function originWords(header) {
  const devices = devicesWords(header);
  const times = isTimed(header) ? "" : " Its times are not known.";
  return `, recorded${dateWords(header.date)}${devices && ` on ${devices}`}${speedWords(header)}.${times}`;
}

export function createOrigin({ state }) {
  const [name, made, prompt] = [el("span", { class: "dv-recorded-method" }), el("span"), el("q", { class: "dv-isolated" })];
  // Of what comes along, the field has the prompt, but where the page is presented.
  const asked = el("span", { class: "dv-asked" }, " Prompt: ", prompt);
  const node = el("p", { class: "dv-origin" }, el("b", {}, "A recording, not a live run."), " ", name, made, asked);
  let told = null;
  return {
    node,
    draw() {
      node.hidden = !state.file || !state.header;
      if (node.hidden || told === state.header) return;
      told = state.header;
      setText(name, words(aboutOf(told).name, 60));
      setText(made, originWords(told));
      asked.dataset.recorded = state.recorded;
      setText(prompt, words(told.prompt.trim(), LONGEST_PROMPT));
    },
  };
}
