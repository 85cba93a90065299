// The button "Copy link", and links followed: between the page's fields and a view of it.
// site: {pages, address, frame}; pages: for each tab {fields, visualizer, start, label, reaching}: two ids of elements,
// what is written on the second, and the names of the fields with which a run reaches for the hub or a folder; address:
// of a Space; frame: its HTML.

import { areDetailsOpen, openDetails } from "../visualizer/charts.js";
import { isPresented } from "../visualizer/dom.js";
import { copied, REFUSED } from "../visualizer/export.js";
import { takeLeft } from "../visualizer/remembered.js";
import { controlsOf, limitControls } from "./limits.js";
import { differs, fragmentOf, readField, viewOfFragment } from "./link.js";
import { present, chosenTheme, setTheme } from "./look.js";

const COPIED = "Link copied (also shown here). It holds this tab, its prompt and settings, and the iteration shown.";

export function selectedTab({ pages }) {
  const tabs = Object.keys(pages);
  return tabs.find((tab) => document.querySelector(`#tab-${tab}-button[aria-selected=true]`)) ?? tabs[0];
}

// Where the tab's visualizer is held: at the recording's iteration or a run's. A run's end is where all runs come to,
// while a recording whose link names no iteration plays, and one behind the story stands; a file of the reader's is not
// in the link.
function shownIn({ visualizer }) {
  const shown = visualizer && document.querySelector(`#${visualizer} .dv`)?.dataset;
  const last = Number(shown?.iterations) - 1;
  if (!shown || shown.playing === "yes" || "story" in shown) return {};
  if (shown.state === "recording") return { recording: Number(shown.shown) };
  return shown.file === "yes" || Number(shown.shown) === last ? {} : { iteration: Number(shown.shown) };
}

// values: of all tabs' fields, one after another.
function fieldsOn(tab, values, { pages }) {
  const places = Object.entries(pages).flatMap(([page, { fields }]) => Object.keys(fields).map((name) => [page, name]));
  return Object.fromEntries(places.flatMap(([page, name], at) => (page === tab ? [[name, values[at]]] : [])));
}

const spoken = (value) => JSON.stringify({ ...value, at: performance.now() });

export async function copyLink(values, site) {
  const tab = selectedTab(site);
  const page = site.pages[tab];
  const find = (part) => document.querySelector(`#tab-${tab} ${part}`)?.dataset;
  const fragment = fragmentOf({
    tab, fields: fieldsOn(tab, values, site), ...shownIn(page),
    controls: controlsOf(tab), theme: chosenTheme(), details: page.visualizer && areDetailsOpen() ? 1 : undefined,
    story: find(".dv[data-story] .dv-story")?.stop, draft: find("[data-game]")?.game,
  }, site.pages);
  const own = `${location.origin}${location.pathname}`;
  // A Space's page on the hub hands what follows its address on to this page, which is a frame in it.
  const link = (site.address || own) + fragment;
  const frame = site.frame.replace("ADDRESS", () => `${own}${fragment.replaceAll("&", "&amp;")}`);
  return spoken({ message: (await copied(link)) ? COPIED : REFUSED, link, frame });
}

const visualizerValue = ({ iteration = null, recording = null, isLeft = false, fields: { prompt, method } }) => (
  spoken({ view: { iteration, recording, isLeft, prompt, method } }));

// Whether a link starts its run: not where what it sets would make the page fetch models or read a folder.
const reaches = ({ fields }, page) => page.reaching.some((name) => fields[name] !== page.fields[name].default);

// A button that was pressed does nothing more until its run is over.
const hasRun = (tab) => document.querySelector(`#tab-${tab} :is(.dv, .dv-race):is([data-state=waiting], [data-state=running])`) !== null;
const startsItself = (view, page) => Boolean(view.autoplay) && !reaches(view, page);

// What the outputs become: the tabs, the bar, each page's visualizer and each page's fields; undefined stays as it is.
// views: by their tabs; tab: the one that opens; start: the id of a button to press.
function outputs(views, { tab, message = "", start = null }, { pages }) {
  const of = Object.entries(pages).map(([name, page]) => ({ ...page, view: views[name] }));
  const withRuns = of.filter((page) => page.visualizer);
  const shown = withRuns.map((page) => (page.view ? visualizerValue(page.view) : undefined));
  const values = of.flatMap((page) => Object.keys(page.fields).map((name) => page.view?.fields[name]));
  return [tab ? { __type__: "update", selected: tab } : undefined, spoken({ message, start }), ...shown, ...values];
}

const isChanged = ({ fields }, page) => (
  Object.entries(page.fields).some(([name, field]) => differs(fields[name], field)));

const setWords = ({ label }) => `Prompt and settings loaded. Press ${label} to run.`;
const IN_THE_WAY = "A run is in progress: start this one when it ends.";
const LOOK_FIRST = "It names other models or another datastore: check the settings first.";

// A tab that starts no run has none to speak of, and a link that leaves the page as it opens has set nothing.
function linkWords(view, page) {
  if (!page.start) return "";
  if (startsItself(view, page)) return hasRun(view.tab) ? IN_THE_WAY : "";
  const { autoplay, iteration } = view;
  const held = iteration === undefined ? "" : `Iteration ${iteration} will be shown when the run reaches it.`;
  return [isChanged(view, page) && setWords(page), autoplay && LOOK_FIRST, held].filter(Boolean).join(" ");
}

// `?controls=…` before the `#` holds for every tab. Returns what of it is ignored, in a sentence.
function limitEveryTab({ pages }) {
  const controls = new URLSearchParams(location.search).get("controls");
  const tabs = Object.keys(pages).filter((tab) => !controlsOf(tab));
  if (controls === null || !tabs.length) return "";
  const { look, problem } = viewOfFragment(`#controls=${encodeURIComponent(controls)}`, pages);
  if (look.controls) for (const tab of tabs) limitControls(tab, look.controls);
  return problem;
}

export const LEFT = "duoviz form";
const MEASURING = "The page was reloaded during the measurement; finished answers are kept. Press Run to resume it.";

// A field's value as it stands on the page; as heard where it is not there, or shown by other words.
function valueOnPage(field, heard) {
  const input = document.querySelector(`#${field.id} :is(textarea, input:not([type=radio]), input:checked)`);
  if (!input || field.kind === "list") return heard;
  const value = readField(input.type === "checkbox" ? String(input.checked) : input.value, field);
  return value === undefined ? heard : value;
}

// What is left to the page that comes: the tab, whether it is presented, and the tabs whose fields have changed.
// values: as Gradio heard of them last, null of none; of what changes while the server is lost it does not hear.
export function leftOf(values, site) {
  const fieldsOfAll = Object.values(site.pages).flatMap(({ fields }) => Object.values(fields));
  const heard = values ?? fieldsOfAll.map((field) => field.default);
  const views = Object.entries(site.pages).map(([tab, { fields }]) => {
    const entries = Object.entries(fieldsOn(tab, heard, site));
    const now = entries.map(([name, value]) => [name, valueOnPage(fields[name], value)]);
    return { tab, fields: Object.fromEntries(now) };
  });
  const changed = views.filter((view) => isChanged(view, site.pages[view.tab]));
  const message = document.querySelector("#lab-status progress") ? MEASURING : "";
  return { tab: selectedTab(site), look: { present: isPresented() }, views: changed, message };
}

export function openLink(site) {
  const { view, look, problem } = viewOfFragment(location.hash, site.pages);
  const ignored = limitEveryTab(site);
  const left = takeLeft(LEFT);
  const { theme, present: isOn, details, controls } = { ...look, ...left?.look };
  if (theme) setTheme(theme);
  if (isOn !== undefined) present(isOn);
  if (details !== undefined) openDetails(details);
  if (controls) limitControls(view?.tab ?? selectedTab(site), controls);
  if (left) {
    const views = Object.fromEntries(left.views.map((each) => [each.tab, { ...each, isLeft: true }]));
    if (view) views[view.tab] = { iteration: view.iteration, isLeft: true, fields: (views[view.tab] ?? view).fields };
    return outputs(views, { tab: left.tab, message: left.message }, site);
  }
  const page = view ? site.pages[view.tab] : null;
  const message = [ignored, problem, page && linkWords(view, page)].filter(Boolean).join(" ");
  const start = page && startsItself(view, page) && !hasRun(view.tab) ? page.start : null;
  return outputs(view ? { [view.tab]: view } : {}, { tab: view?.tab, message, start }, site);
}

const runOf = (button) => button.closest("[id^=tab-]")?.querySelector("[data-run]")?.dataset.run;

// A race's press is lost while the race before is still ending, a moment after its last values have come.
const PRESS_AGAIN_MS = 250;
const PRESSES = 20;

function press(button, before, times) {
  if (times === PRESSES || runOf(button) !== before) return;
  button.click();
  setTimeout(press, PRESS_AGAIN_MS, button, before, times + 1);
}

// told: what the bar was told last. Called when a link has set the fields; as the page opens, the button may not have
// come.
export function startRun(told) {
  const { start } = JSON.parse(told);
  const button = start && document.getElementById(start);
  if (button?.closest("#ask-race")) press(button, runOf(button), 0);
  else if (button) button.click();
  else if (start) requestAnimationFrame(() => startRun(told));
}
