// A view of the page as text: its tab, fields and iteration in a link's fragment, or in a settings file. pages: for
// each tab {fields, visualizer, start}: its fields by name, each {kind: "text" | "number" | "flag" | "choice", default,
// choices}, and the ids of what shows a run and of what starts one, null where there is none.

import { isObject, parseJson } from "../visualizer/json.js";
import { clip, visible } from "../visualizer/words.js";
import { isControl } from "./limits.js";
import { THEMES } from "./look.js";

export const LONGEST_TEXT = 2_000;
const LONGEST_ITERATION = 1e6;
const ALWAYS = ["prompt", "method", "seed"];
const MOST_TOLD = 3;
const VERSION = 1;

const named = (name) => `"${clip(visible(name), 40)}"`;
const said = (value) => named(typeof value === "object" ? JSON.stringify(value) : String(value));
export const isWhole = (value) => Number.isInteger(value) && value >= 0 && value <= LONGEST_ITERATION;
const FLAGS = new Map([["true", true], ["1", true], ["false", false], ["0", false]]);
const readWhole = (text) => (/^\d+$/.test(text) ? Number(text) : undefined);

const KINDS = {
  // Half a character (a lone surrogate) is in no text.
  text: { fits: (value) => typeof value === "string" && value.isWellFormed(), read: (text) => text, what: "a text" },
  // A number field that was emptied holds null.
  number: {
    fits: (value) => value === null || Number.isFinite(value),
    read: (text) => (text === "" ? null : text.trim() === "" ? undefined : Number(text)), what: "a number",
  },
  flag: { fits: (value) => typeof value === "boolean", read: (text) => FLAGS.get(text), what: "true or false" },
  choice: { fits: (value, { choices }) => choices.includes(value), read: (text) => text, what: "one of the choices" },
  iteration: { fits: isWhole, read: readWhole, what: "an iteration number" },
  rounds: { fits: isWhole, read: readWhole, what: "a whole number" },
  stop: { fits: Number.isInteger, read: (text) => (/^[1-7]$/.test(text) ? Number(text) : undefined), what: "a stop from 1 to 7" },
  controls: { fits: Array.isArray, read: (text) => text.split(",").map((name) => name.trim()).filter(Boolean), what: "a list" },
};

// What a link may say beside its tab's fields: of what is shown there, and of how the page looks, whatever the tab;
// `story`: the stop at which the story opens.
const ITERATION = { kind: "iteration" };
// A course has a game, whose rounds follow from a number: see game/ending.js.
const ROUNDS = { kind: "rounds" };
const LOOK = {
  theme: { kind: "choice", choices: THEMES }, present: { kind: "flag" }, controls: { kind: "controls" }, story: { kind: "stop" },
  details: { kind: "flag" },
};
const BESIDE_THE_STORY = ["theme", "present", "story", "details"];
const keysOf = ({ fields, visualizer, start }) => ({
  ...fields, ...LOOK, ...(visualizer && { iteration: ITERATION, recording: ITERATION }), ...(start && { autoplay: { kind: "flag" } }),
  ...(fields.lesson && { draft: ROUNDS }),
});

// The first of a file's entries that is not as it should be, in words; null where all are.
function wrongPart({ tab, fields, iteration, recording }, pages) {
  if (typeof tab !== "string" || !Object.hasOwn(pages, tab)) return `the page has no tab ${said(tab)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(pages[tab].fields, name)) return `the page has no setting ${named(name)}`;
    const field = pages[tab].fields[name];
    if (!KINDS[field.kind].fits(value, field)) return `${named(name)} is not ${KINDS[field.kind].what}`;
  }
  const wrong = Object.entries({ iteration, recording }).find(([, value]) => value !== undefined && !isWhole(value));
  return wrong ? `${named(wrong[0])} is not an iteration number` : null;
}

function filled(view, pages) {
  const defaults = Object.entries(pages[view.tab].fields).map(([name, field]) => [name, field.default]);
  return { ...view, fields: { ...Object.fromEntries(defaults), ...view.fields } };
}

export const longestText = ({ fields }) => Math.max(0, ...Object.values(fields).map((value) => (typeof value === "string" ? [...value].length : 0)));

// "#tab=…&…": what differs from the page as it opens, and always what a reader looks for.
export function fragmentOf({ tab, fields, ...rest }, pages) {
  const isChanged = ([name, value]) => ALWAYS.includes(name) || value !== pages[tab].fields[name].default;
  const changed = Object.entries(fields).filter(isChanged);
  const written = [["tab", tab], ...changed, ...Object.entries(rest)].filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent((value ?? "").toString().toWellFormed())}`);
  return `#${written.join("&")}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

// The fragment's entries by name, and what of it is ignored, in words. A heading's is no view.
function entriesOf(fragment) {
  const [entries, ignored] = [new Map(), []];
  const parts = fragment.includes("=") ? fragment.replace(/^#/, "").split("&").filter(Boolean) : [];
  for (const part of parts) {
    const [name, value] = [part.split("=", 1)[0], part.slice(part.indexOf("=") + 1)].map(decoded);
    if (!part.includes("=") || name === null || value === null) ignored.push(`${named(part)} (cannot be read)`);
    else if (entries.has(name)) ignored.push(`${named(name)} (given twice)`);
    else entries.set(name, value);
  }
  return { entries, ignored };
}

// What these entries say, by their names; what they may say is in `keys`, and `ignored` grows by what they may not.
function readEntries(entries, keys, ignored) {
  const found = {};
  for (const [name, text] of entries) {
    if (!Object.hasOwn(keys, name)) {
      ignored.push(`${named(name)} (unknown here)`);
      continue;
    }
    const { read, fits, what } = KINDS[keys[name].kind];
    const value = read(text);
    if (fits(value, keys[name])) found[name] = value;
    else ignored.push(`${named(name)} (not ${what})`);
  }
  return found;
}

function dropUnknownControls(look, ignored) {
  const unknown = look.controls?.filter((name) => !isControl(name)) ?? [];
  if (!unknown.length) return;
  ignored.push(...unknown.map((name) => `control ${named(name)} (unknown)`));
  look.controls = look.controls.filter(isControl);
  if (!look.controls.length) delete look.controls;
}

function ignoredWords(ignored) {
  const more = ignored.length > MOST_TOLD ? `, and ${ignored.length - MOST_TOLD} more` : "";
  return ignored.length ? `Ignored in this link: ${ignored.slice(0, MOST_TOLD).join(", ")}${more}.` : "";
}

const partsOf = (entries, names) => (
  [true, false].map((isIn) => entries.filter(([name]) => Object.hasOwn(names, name) === isIn)));

// {view, look, problem}. view: all its tab's fields filled in; null for a link that neither names a tab nor sets a
// field. look: the theme, whether the page is presented and its details are open, the controls left, and the stop
// of the story, where it says so. problem: what of the link is ignored, in a sentence, "" where nothing is.
export function viewOfFragment(fragment, pages) {
  const { entries, ignored } = entriesOf(fragment);
  const tabs = { tab: { kind: "choice", choices: Object.keys(pages) } };
  const [[ofTab, rest], first] = [partsOf([...entries], tabs), tabs.tab.choices[0]];
  const { tab } = readEntries(ofTab, tabs, ignored);
  const page = pages[tab ?? first];
  const [look, own] = partsOf(Object.entries(readEntries(rest, keysOf(page), ignored)), LOOK).map(Object.fromEntries);
  const [fields, shown] = partsOf(Object.entries(own), page.fields).map(Object.fromEntries);
  dropUnknownControls(look, ignored);
  const isView = tab !== undefined || Object.keys(own).length > 0;
  const view = isView ? filled({ tab: tab ?? first, fields, ...shown }, pages) : null;
  return { view, look, problem: ignoredWords(ignored) };
}

// Of a fragment: the stop that it names, null where it names none; and whether the story may open by itself, which it
// does where nothing of a run is named.
export function storyIn(fragment) {
  const { entries } = entriesOf(fragment);
  const mayOpen = [...entries.keys()].every((name) => BESIDE_THE_STORY.includes(name));
  return { stop: KINDS.stop.read(entries.get("story") ?? "") ?? null, mayOpen };
}

export const fileOf = (view) => JSON.stringify({ duoviz: "settings", version: VERSION, ...view }, null, 2);

export function viewOfFile(text, pages) {
  const { value: file, problem } = parseJson(text);
  if (problem) return { problem: `This is not a duoviz settings file: it ${problem}. Nothing was changed.` };
  if (!isObject(file) || file.duoviz !== "settings") return { problem: "This is not a duoviz settings file. Nothing was changed." };
  if (file.version !== VERSION) return { problem: `This settings file has version ${said(file.version)}, and this page reads version ${VERSION}.` };
  const { tab, fields, iteration, recording } = file;
  const wrong = isObject(fields) ? wrongPart({ tab, fields, iteration, recording }, pages) : '"fields" is missing';
  if (wrong) return { problem: `This settings file cannot be used: ${wrong}. Nothing was changed.` };
  return { view: filled({ tab, fields, iteration, recording }, pages) };
}
