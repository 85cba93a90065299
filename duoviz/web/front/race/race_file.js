// A race as one file, or recorded run by run; duoviz/trace/race.schema.json says which fields it has.

import { newerWords, READS_SCHEMA, wrongInTrace, wrongWords } from "../visualizer/check.js";
import { traceOf } from "../visualizer/export.js";
import { parseObject, wrongPlace } from "../visualizer/json.js";
import { fetchRecording } from "../visualizer/opening.js";
import { eventsOf, runningNumbers, stateAfter } from "../visualizer/state.js";
import raceSchema from "../../../trace/race.schema.json" with { type: "json" };

const SIDES = 2;

export function raceOf({ lanes, repeats, result }) {
  const recordings = lanes.flatMap(({ name, runs }) => [...runs]
    .filter(([, run]) => run.iterations.length)
    .map(([repeat, run]) => ({ lane: name, repeat, trace: traceOf(run) })));
  const saved = lanes.map(({ name, method, baseline }) => ({ name, method, baseline }));
  return { schema: READS_SCHEMA, repeats, lanes: saved, recordings, result };
}

const COLUMNS = "method,round,tokens,seconds,tokens per second,seconds to the first token,tokens per pass";

// A line for each run. A name is no formula, whatever a file calls it.
export function csvOf({ lanes }) {
  const named = (name) => `"${name.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const ran = ([, run]) => run.iterations.length;
  const lines = lanes.flatMap(({ name, runs }) => [...runs].filter(ran).map(([round, run]) => {
    const { totals, iterations } = stateAfter(eventsOf(run));
    const { tps, ttft, tau } = runningNumbers({ totals, iterations, header: null }, totals.length - 1);
    return [named(name), round + 1, totals.at(-1).tokens, iterations.at(-1).sync, tps, ttft, tau].join(",");
  }));
  return `${[COLUMNS, ...lines].join("\n")}\n`;
}

export function eventsOfRace({ lanes, repeats, recordings, result }, { file = null, speed = 1 } = {}) {
  const told = recordings.flatMap(({ lane, repeat, trace }) => (
    eventsOf(traceOf(trace)).slice(1).map((event) => ({ type: "lane", lane, repeat, event }))
  ));
  return [{ type: "lanes", lanes, repeats, recorded: true, file }, ...told, { type: "end", result, speed }];
}

const CUT_OFF = "The page was reloaded during the race; the earlier part is kept.";
const NOT_BEGUN = "The page was reloaded before your next race began; this is the one before.";
export const GONE = "The page was reloaded, and your race was lost. Press Race to run it again, or open its file again.";

// What of a race is left to the page that comes: null where there is neither one of the visitor's nor a file's, nor is
// one waited for.
export function leftOf(race, isOpen) {
  const { file } = race;
  const own = race.lanes.length && (!race.recorded || file !== null) ? raceOf(race) : null;
  return own || isOpen ? { race: own, file, told: !isOpen ? null : race.result ? NOT_BEGUN : CUT_OFF } : null;
}

// The events of a race that was left; none where nothing of it can be shown.
export async function eventsOfLeft(left) {
  const recordings = left?.race?.recordings ?? [];
  if (!recordings.length || await wrongRecording(recordings) !== null) return [];
  const [[lanes, ...runs], { told }] = [eventsOfRace(left.race, left), left];
  const end = runs.pop();
  const words = told ? [{ type: left.race.result ? "status" : "error", text: told, message: told }] : [];
  return [{ ...lanes, recorded: left.file !== null }, ...runs, ...(left.race.result ? [end] : []), ...words];
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
  const value = parseObject(text);
  if (!value) return { problem: "This file is not a race: it is not a JSON object." };
  if (value.iterations) return { problem: "This file is the trace of one run: open it in the Live tab." };
  const newer = newerWords("race", value.schema);
  if (newer) return { problem: newer };
  const wrong = wrongPlace(value, raceSchema) ?? await wrongRecording(value.recordings);
  if (wrong !== null) return { problem: wrongWords("race", wrong) };
  return fitTogether(value) ? { race: value } : { problem: "This file is not a race that can be shown: its parts do not fit together." };
}

const RACE_OPENING_SPEED = 0.5;

// The events of a race told of by `web/components.py`: {lanes, recordings: an address for each, result}; none where a
// recording cannot be had.
export async function recordedEvents({ lanes, recordings, result }) {
  const traces = await Promise.all(recordings.map((address) => fetchRecording(address)));
  if (traces.some((trace) => !trace)) return [];
  const told = traces.map((trace, place) => ({ lane: lanes[place].name, repeat: 0, trace }));
  return eventsOfRace({ lanes, repeats: 1, recordings: told, result }, { speed: RACE_OPENING_SPEED });
}
