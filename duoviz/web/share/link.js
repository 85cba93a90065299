// A view of the page as text: its tab, fields and iteration in a link's fragment, or in a settings file.
// pages: for each tab, its fields by name, each {kind: "text" | "number" | "flag" | "choice", default, choices}.

import { clip, visible } from "../visualizer/words.js";
import { parseJson } from "../visualizer/parse.js";

export const LONGEST_TEXT = 2_000;
const LONGEST_ITERATION = 1e6;
const ALWAYS = ["prompt", "method", "seed"];
const VERSION = 1;

const named = (name) => `"${clip(visible(name), 40)}"`;
// A value of a file, which may be an object that no text can be made of.
const said = (value) => named(typeof value === "object" ? JSON.stringify(value) : String(value));
const isWhole = (value) => Number.isInteger(value) && value >= 0 && value <= LONGEST_ITERATION;

const KINDS = {
  // Half a character (a lone surrogate) is in no text.
  text: { fits: (value) => typeof value === "string" && value.isWellFormed(), read: (text) => text, what: "a text" },
  // A number field that was emptied holds null.
  number: {
    fits: (value) => value === null || Number.isFinite(value),
    read: (text) => (text === "" ? null : text.trim() === "" ? undefined : Number(text)), what: "a number",
  },
  flag: { fits: (value) => typeof value === "boolean", read: (text) => ({ true: true, false: false })[text], what: "true or false" },
  choice: { fits: (value, { choices }) => choices.includes(value), read: (text) => text, what: "one of the choices" },
};

// The first of a view's own entries that is not as it should be, in words; null where all are.
function wrongPart({ tab, fields, iteration, recording }, pages) {
  if (typeof tab !== "string" || !Object.hasOwn(pages, tab)) return `the page has no tab ${said(tab)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(pages[tab].fields, name)) return `the page has no setting ${named(name)}`;
    const field = pages[tab].fields[name];
    if (!KINDS[field.kind].fits(value, field)) return `${named(name)} is not ${KINDS[field.kind].what}`;
  }
  const wrong = Object.entries({ iteration, recording }).find(([, value]) => value !== undefined && !isWhole(value));
  return wrong ? `${named(wrong[0])} is not the number of an iteration` : null;
}

function filled(view, pages) {
  const defaults = Object.entries(pages[view.tab].fields).map(([name, field]) => [name, field.default]);
  return { ...view, fields: { ...Object.fromEntries(defaults), ...view.fields } };
}

// How long the view's longest text is; a link holds LONGEST_TEXT characters of one at most.
export const longestText = ({ fields }) => Math.max(0, ...Object.values(fields).map((value) => (typeof value === "string" ? [...value].length : 0)));

// "#tab=…&…": what differs from the page as it opens, and always what a reader looks for.
export function fragmentOf({ tab, fields, iteration, recording, autoplay }, pages) {
  const changed = Object.entries(fields).filter(([name, value]) => ALWAYS.includes(name) || value !== pages[tab].fields[name].default);
  const entries = [["tab", tab], ...changed, ["iteration", iteration], ["recording", recording], ["autoplay", autoplay]];
  const written = entries.filter(([, value]) => value !== undefined)
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

// The fragment's entries by name, or the reason why there are none.
function entriesOf(fragment) {
  const entries = new Map();
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [name, value] = [part.split("=", 1)[0], part.slice(part.indexOf("=") + 1)].map(decoded);
    if (!part.includes("=") || name === null || value === null) return { reason: `${named(part)} cannot be read` };
    if (entries.has(name)) return { reason: `it names ${named(name)} twice` };
    entries.set(name, value);
  }
  return { entries };
}

function viewOfEntries(entries, pages) {
  const take = (name) => {
    const value = entries.get(name);
    entries.delete(name);
    return value;
  };
  const number = (text) => (text === undefined ? undefined : /^\d+$/.test(text) ? Number(text) : -1);
  const view = { tab: take("tab") ?? Object.keys(pages)[0], iteration: number(take("iteration")), recording: number(take("recording")) };
  const autoplay = take("autoplay");
  const kinds = Object.hasOwn(pages, view.tab) ? pages[view.tab].fields : {};
  const read = ([name, text]) => [name, Object.hasOwn(kinds, name) ? KINDS[kinds[name].kind].read(text) : text];
  return { ...view, fields: Object.fromEntries([...entries].map(read)), ...(autoplay === undefined ? {} : { autoplay: autoplay !== "false" }) };
}

// {view}, all its tab's fields filled in; {problem}: one sentence; or {} for a fragment that is no view, as a heading's.
export function viewOfFragment(fragment, pages) {
  if (!fragment.includes("=")) return {};
  const { entries, reason } = entriesOf(fragment);
  const view = entries && viewOfEntries(entries, pages);
  const wrong = reason ?? wrongPart(view, pages);
  return wrong ? { problem: `This link cannot be used, so the page shows its defaults: ${wrong}.` } : { view: filled(view, pages) };
}

export const fileOf = (view) => JSON.stringify({ duoviz: "settings", version: VERSION, ...view }, null, 2);

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// {view} or {problem}, as of a fragment.
export async function viewOfFile(text, pages) {
  const { value: file, problem } = await parseJson(text);
  if (problem) return { problem: `This is no settings file of duoviz, so nothing was changed: it ${problem}.` };
  if (!isObject(file) || file.duoviz !== "settings") return { problem: "This is no settings file of duoviz, so nothing was changed." };
  if (file.version !== VERSION) return { problem: `This settings file has version ${said(file.version)}, and this page reads version ${VERSION}.` };
  const { tab, fields, iteration, recording } = file;
  const wrong = isObject(fields) ? wrongPart({ tab, fields, iteration, recording }, pages) : '"fields" is missing';
  if (wrong) return { problem: `This settings file cannot be used, so nothing was changed: ${wrong}.` };
  return { view: filled({ tab, fields, iteration, recording }, pages) };
}
