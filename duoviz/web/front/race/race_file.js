// A race as one file, or recorded run by run; duoviz/trace/race.schema.json says which fields it has.

import { MAX_FILE_BYTES, readAs, READS_SCHEMA, wrongInTrace, wrongPlace } from "../visualizer/check.js";
import { el, menu, section, textButton } from "../visualizer/dom.js";
import { fileName, save, traceOf } from "../visualizer/export.js";
import { createOpener, createTold, json } from "../visualizer/files.js";
import { fetchRecording } from "../visualizer/opening.js";
import { eventsOf, runningNumbers, stateAfter } from "../visualizer/state.js";
import { canReplay, endOf, showOwn, sidesOf } from "./model.js";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };

const SIDES = 2;

function raceOf({ lanes, repeats, result }) {
  const recordings = lanes.flatMap(({ name, runs }) => [...runs]
    .filter(([, run]) => run.iterations.length)
    .map(([repeat, run]) => ({ lane: name, repeat, trace: traceOf(run) })));
  const saved = lanes.map(({ name, method, baseline }) => ({ name, method, baseline }));
  return { schema: READS_SCHEMA, repeats, lanes: saved, recordings, result };
}

const COLUMNS = "method,round,tokens,seconds,tokens per second,seconds to the first token,tokens per pass";

// A line for each run. A name is no formula, whatever a file calls it.
export function csvOf(race) {
  const named = (name) => `"${name.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const lines = raceOf(race).recordings.map(({ lane, repeat, trace }) => {
    const { totals, iterations } = stateAfter(eventsOf(trace));
    const { tps, ttft, tau } = runningNumbers({ totals, iterations, header: null }, totals.length - 1);
    return [named(lane), repeat + 1, totals.at(-1).tokens, iterations.at(-1).sync, tps, ttft, tau].join(",");
  });
  return `${[COLUMNS, ...lines].join("\n")}\n`;
}

function eventsOfRace({ lanes, repeats, recordings, result }, { file = null, recorded = true, speed = 1 } = {}) {
  const told = recordings.flatMap(({ lane, repeat, trace }) => (
    eventsOf(traceOf(trace)).slice(1).map((event) => ({ type: "lane", lane, repeat, event }))
  ));
  const end = result ? [{ type: "end", result, speed }] : [];
  return [{ type: "lanes", lanes, repeats, recorded, file }, ...told, ...end];
}

const CUT_OFF = "The page was reloaded during the race; the earlier part is kept.";
const NOT_BEGUN = "The page was reloaded before your next race began; this is the one before.";
const GONE = "The page was reloaded, and your race was lost. Press Race to run it again, or open its file again.";

// What of a race is left to the page that comes, with the one in whose place a file is shown: null where there is none,
// nor is one waited for.
export function leftOf(race, isOpen) {
  const { file, recorded, result, speed } = race;
  if (!race.lanes.length) return isOpen ? {} : null;
  const isRecording = recorded && file === null;
  const told = isOpen ? (isRecording ? GONE : result ? NOT_BEGUN : CUT_OFF) : result ? "" : race.message;
  const clock = race.phase === "running" ? endOf(race) : race.clock;
  const shown = isRecording ? { recording: race.lanes[0].name } : { race: raceOf(race), file, recorded };
  return { ...shown, told, clock, speed, own: race.own && leftOf(race.own, false) };
}

const isWhole = async ({ recordings }) => recordings.length > 0 && await wrongRecording(recordings) === null;
const toldBy = (text, isCut) => (text ? [{ type: isCut ? "error" : "status", text, message: text }] : []);

// The events of what was left; where it cannot be shown, as {}, the first of the recordings and what was lost.
export async function eventsOfLeft(left, recordings) {
  if (!left) return [];
  const { race, recording, told, clock, speed } = left;
  const at = { type: "clock", clock, speed };
  // A page of an earlier version left no clock.
  if (race && clock !== undefined && await isWhole(race)) {
    const own = await eventsOfLeft(left.own, recordings);
    return [...own, ...eventsOfRace(race, left), ...toldBy(told, !race.result), at];
  }
  const known = recordings.find(({ name }) => name === recording);
  const events = await (known ?? recordings[0])?.events() ?? [];
  return [...events, ...(known ? [...toldBy(told), at] : toldBy(GONE))];
}

// Whether the parts fit together: two sides come first, every name stands once, and the result is of these lanes and of
// rounds that the file holds.
function fitTogether({ lanes, repeats, recordings, result }) {
  const names = lanes.map(({ name }) => name);
  const has = (lane, repeat) => recordings.some((each) => each.lane === lane && each.repeat === repeat);
  return lanes.length >= SIDES && new Set(names).size === names.length && recordings.length > 0
    && lanes.every(({ baseline }, index) => baseline === (index >= SIDES))
    && recordings.every(({ lane, repeat }) => names.includes(lane) && repeat < repeats)
    && JSON.stringify(result.lanes.map(({ name }) => name)) === JSON.stringify(names)
    && result.lanes.every(({ name, repeat }) => repeat === null || has(name, repeat));
}

async function wrongRecording(recordings) {
  for (const [index, { trace }] of recordings.entries()) {
    const wrong = await wrongInTrace(trace) ?? (trace.iterations.length ? null : ".iterations");
    if (wrong !== null) return `.recordings[${index}].trace${wrong}`;
  }
  return null;
}

export async function readRace(text) {
  const { problem, value } = await readAs("race", text, {
    isOther: ({ iterations }) => iterations, other: "This file is the trace of one run: open it in the Live tab.",
    schemaOf: ({ schema }) => schema,
    wrongIn: async (race) => wrongPlace(race, raceSchema) ?? wrongRecording(race.recordings),
  });
  if (problem) return { problem };
  return fitTogether(value) ? { race: value } : { problem: "This file is not a race that can be shown: its parts do not fit together." };
}

// The events of a race told of by `web/components.py`: {lanes, recordings: an address for each, result}; none where a
// recording cannot be had.
export async function recordedEvents({ lanes, recordings, result }) {
  const traces = await Promise.all(recordings.map((address) => fetchRecording(address)));
  if (traces.some((trace) => !trace)) return [];
  const told = traces.map((trace, place) => ({ lane: lanes[place].name, repeat: 0, trace }));
  return eventsOfRace({ lanes, repeats: 1, recordings: told, result }, { speed: 0.5 });
}

const RACING = "A race is running: stop it, or open the file when it has ended.";
const TOO_LARGE = `This race is larger than the ${MAX_FILE_BYTES / 1e6} MB limit: race with fewer rounds or fewer new tokens.`;
const HINT = "A race file (.duorace.json) holds every measured round; you can also drop one here.";

// isBusy: whether events are still to come; showAll: shows what events tell.
export function createRaceFiles({ view, race, isBusy, showAll, redraw }) {
  const { node: message, tell, forget } = createTold();
  const nameOf = () => {
    const { date } = race.lanes.find(({ state }) => state.header).state.header;
    return fileName({ method: `race-${sidesOf(race).map(({ method }) => method).join("-")}`, date });
  };
  const show = ({ race: found }, name) => {
    showAll(eventsOfRace(found, { file: name }));
    return "";
  };
  const opener = createOpener("Open race…", { root: view, kind: "race", read: readRace, refusal: () => (isBusy() ? RACING : null), show, tell });
  const saved = textButton("Save race", () => {
    const blob = json(raceOf(race));
    tell(blob.size > MAX_FILE_BYTES ? TOO_LARGE : save(blob, `${nameOf()}.duorace.json`));
  });
  const table = textButton("Save CSV", () => tell(save(new Blob([csvOf(race)], { type: "text/csv" }), `${nameOf()}.csv`)));
  const back = textButton("Back to your race", () => { showOwn(race); redraw(); });
  const tools = el("div", { class: "dv-tools" }, ...opener, saved, table);
  return {
    node: section("files", "Files", message, back, menu("race", "Files", tools, el("p", { class: "dv-note" }, HINT))),
    draw() {
      saved.disabled = table.disabled = !canReplay(race) || !race.result;
      back.hidden = race.own === null || isBusy();
      forget(race);
    },
  };
}
