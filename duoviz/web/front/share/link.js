// A view of the page as a link's fragment: its tab, fields and iteration. pages: for each tab {fields, visualizer,
// start}: its fields by name, each {kind: "text" | "number" | "flag" | "choice" | "list", default, choices, id}, and
// the ids of what shows a run and of what starts one, null where there is none.

import { clip, visible } from "../visualizer/words.js";
import { isControl } from "./limits.js";
import { THEMES } from "./look.js";

const LONGEST_ITERATION = 1e6;
const ALWAYS = ["prompt", "method", "seed"];
const MOST_TOLD = 3;

const named = (name) => `"${clip(visible(name), 40)}"`;
const FLAGS = new Map([["true", true], ["1", true], ["false", false], ["0", false]]);

export function readWhole(text) {
  return /^\d+$/.test(text) && Number(text) <= LONGEST_ITERATION ? Number(text) : undefined;
}

// A number field that was emptied is null.
function readNumber(text) {
  if (text === "") return null;
  return text.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

function readList(text, { choices }) {
  const names = text.split(",").map((name) => name.trim()).filter(Boolean);
  return !choices || names.every((name) => choices.includes(name)) ? names : undefined;
}

// What each kind is called, and how its text is read: as undefined where it is no such thing.
const KINDS = {
  text: { what: "a text", read: (text) => text },
  number: { what: "a number", read: readNumber },
  flag: { what: "true or false", read: (text) => FLAGS.get(text) },
  choice: { what: "one of the choices", read: (text, { choices }) => (choices.includes(text) ? text : undefined) },
  iteration: { what: "an iteration number", read: readWhole },
  rounds: { what: "a whole number", read: readWhole },
  stop: { what: "a stop from 1 to 7", read: (text) => (/^[1-7]$/.test(text) ? Number(text) : undefined) },
  list: { what: "a list of the choices", read: readList },
};

// What a link may say beside its tab's fields: of what is shown there, and of how the page looks, whatever the tab;
// `story`: the stop at which the story opens.
const LOOK = {
  theme: { kind: "choice", choices: THEMES }, present: { kind: "flag" }, controls: { kind: "list" }, story: { kind: "stop" },
  details: { kind: "flag" },
};
// What a link may say of a tab, by what that concerns.
const keysOf = ({ fields, visualizer, start }) => ({
  look: LOOK, fields,
  shown: {
    ...(visualizer && { iteration: { kind: "iteration" }, recording: { kind: "iteration" } }), ...(start && { autoplay: { kind: "flag" } }),
    // A course has a game, whose rounds follow from a number: see game/ending.js.
    ...(fields.lesson && { draft: { kind: "rounds" } }),
  },
});

// A field's value, from its text; undefined where that is none.
export const readField = (text, field) => KINDS[field.kind].read(text, field);

export const differs = (value, field) => String(value) !== String(field.default);

// "#tab=…&…": what differs from the page as it opens, and always what a reader looks for.
export function fragmentOf({ tab, fields, ...rest }, pages) {
  const isChanged = ([name, value]) => ALWAYS.includes(name) || differs(value, pages[tab].fields[name]);
  const written = [["tab", tab], ...Object.entries(fields).filter(isChanged), ...Object.entries(rest)];
  const entries = written.filter(([, value]) => value !== undefined).map(([name, value]) => [name, value ?? ""]);
  return `#${new URLSearchParams(entries)}`;
}

// A link to a heading is no view.
const entriesOf = (fragment) => (
  Object.fromEntries(new URLSearchParams(fragment.includes("=") ? fragment.replace(/^#/, "") : "")));

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

// {view, look, problem}. view: all its tab's fields filled in; null for a link that neither names a tab nor sets a
// field. look: the theme, whether the page is presented and its details are open, the controls left, and the stop
// of the story, where it says so. problem: what of the link is ignored, in a sentence, "" where nothing is.
export function viewOfFragment(fragment, pages) {
  const [{ tab: asked, ...entries }, tabs] = [entriesOf(fragment), Object.keys(pages)];
  const [tab, isTab] = tabs.includes(asked) ? [asked, true] : [tabs[0], asked === undefined];
  const [page, ignored] = [pages[tab], isTab ? [] : [`"tab" (not ${KINDS.choice.what})`]];
  const found = { look: {}, fields: {}, shown: {} };
  for (const [name, text] of Object.entries(entries)) {
    const [part, keys] = Object.entries(keysOf(page)).find(([, each]) => Object.hasOwn(each, name)) ?? [];
    const kind = keys && KINDS[keys[name].kind];
    const value = kind && readField(text, keys[name]);
    if (value !== undefined) found[part][name] = value;
    else ignored.push(`${named(name)} (${kind ? `not ${kind.what}` : "unknown here"})`);
  }
  const { look, fields, shown } = found;
  dropUnknownControls(look, ignored);
  const isView = asked === tab || Object.keys({ ...fields, ...shown }).length > 0;
  const defaults = Object.entries(page.fields).map(([name, field]) => [name, field.default]);
  const view = isView ? { tab, fields: { ...Object.fromEntries(defaults), ...fields }, ...shown } : null;
  return { view, look, problem: ignoredWords(ignored) };
}

// Of a fragment: the stop that it names, null where it names none; and whether the story may open by itself, which it
// does where nothing of a run is named.
export function storyIn(fragment) {
  const entries = entriesOf(fragment);
  const mayOpen = Object.keys(entries).every((name) => ["theme", "present", "story", "details"].includes(name));
  return { stop: KINDS.stop.read(entries.story ?? "") ?? null, mayOpen };
}
