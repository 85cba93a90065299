// What is shown before the visitor's first run: the run that was shown before a reload, or a recorded one.

import { readTrace } from "./check.js";
import { traceOf } from "./export.js";
import { aboutOf } from "./methods.js";
import { mostTelling, wantsNoMotion } from "./player.js";
import { eventsOf, SLOWLY } from "./state.js";

const CUT_OFF = "The page was reloaded during the run; the earlier part is kept.";
const NOT_BEGUN = "The page was reloaded before your next run began; this is the one before.";
export const GONE = "The page was reloaded, and your run was lost. Press Generate to run it again, or load its file again.";

// What of a run is left to the page that comes: null where it has neither begun nor is waited for.
export function leftOf(run, shown, isOpen) {
  const isOver = run.last !== null;
  const trace = run.iterations.length && run.file === null ? traceOf(run) : null;
  const told = !isOpen ? null : isOver ? NOT_BEGUN : CUT_OFF;
  return trace || isOpen ? { trace, last: run.last, alone: run.alone, shown, told } : null;
}

// The same of a file that is shown in place of the visitor's own run.
export const leftOfFile = (state) => (
  state.file === null || state.recorded ? null : { trace: traceOf(state), file: state.file, shown: state.shown });

// The events of what was left, held where it was shown; null where nothing of it can be shown.
export async function eventsOfLeft(left) {
  const { trace } = left?.trace ? await readTrace(JSON.stringify(left.trace)) : {};
  if (!trace) return null;
  const [reset, ...events] = eventsOf(trace, left.file, left.last ?? undefined);
  const alone = left.alone ? [{ type: "alone", last: left.alone.last, run: left.alone }] : [];
  const told = left.told ? [{ type: "status", text: left.told }] : [];
  return [reset, { type: "hold", iteration: left.shown }, ...events, ...alone, ...told];
}

// How long it is before a recording is asked for again, in milliseconds.
const AGAIN = [500, 2000, 8000];

// The trace at this address; null where it cannot be had, and the page works without it.
export async function fetchRecording(address, [wait, ...waits] = AGAIN) {
  const answer = await fetch(address).then((got) => (got.ok ? got.text() : null)).catch(() => null);
  if (answer !== null) return (await readTrace(answer)).trace ?? null;
  if (!wait) return null;
  await new Promise((done) => { setTimeout(done, wait); });
  return fetchRecording(address, waits);
}

const ALONE = "vanilla";
const otherPrompt = (prompt) => `A recording of another prompt, “${prompt}”. Press Generate to run yours.`;

const speedOf = ({ iterations }) => iterations.flatMap(({ committed }) => committed).length / iterations.at(-1).sync;

// Held at the iteration `at`, or where that is null, playing; held all the same where nothing is to move. alone:
// vanilla's recording, with which its speed is compared; null where there is none. average: the Lab's φ.
function openingEvents(trace, alone, { at, told, isStill, average }) {
  const [reset, ...events] = eventsOf(trace, "recording");
  const still = at !== null || isStill;
  const hold = still ? at ?? mostTelling(trace.iterations) : Math.max(0, mostTelling(trace.iterations) - 1);
  const play = still ? [] : [{ type: "play", speed: SLOWLY }];
  const vanilla = alone?.header.prompt === trace.header.prompt ? speedOf(alone) : null;
  return [{ ...reset, recorded: true, vanilla, average }, { type: "hold", iteration: hold }, ...events, { type: "status", text: told }, ...play];
}

// Shows the recorded run of a method before the visitor's own. addresses: of each method's recording; method: the one
// that is shown first; told: the sentence that stands with it; isFree: whether nothing of the visitor's is
// shown; averages: of φ in the Lab, by methods' titles; isCovered: whether something stands over it.
export function createOpening(receiver, { addresses, method, told, isFree, isCovered, averages }) {
  const recordings = {};
  let prompt = null;
  const wordsFor = ({ header }) => (prompt === null || prompt === header.prompt ? told : otherPrompt(header.prompt));
  const recordingOf = (name) => (recordings[name] ??= addresses[name] ? fetchRecording(addresses[name]) : null);
  let [held, hasBegun, wasCovered] = [null, false, false];
  recordingOf(method);
  const show = async () => {
    hasBegun = true;
    const [name, iteration] = [method, held];
    const [trace, alone] = await Promise.all([name, ALONE].map(recordingOf));
    if (!trace || name !== method || iteration !== held || !isFree()) return;
    wasCovered = isCovered();
    const isStill = wasCovered || wantsNoMotion();
    const average = averages[aboutOf(trace.header).title] ?? null;
    openingEvents(trace, alone, { at: held, told: wordsFor(trace), isStill, average }).forEach(receiver.send);
  };
  const at = (iteration, name) => {
    [method, held] = [name, iteration];
    return show();
  };
  return {
    begin: () => (hasBegun ? null : show()),
    uncover: () => (wasCovered ? show() : null),
    recordingOf,
    // The prompt is that of a link; what is shown already may be of another one.
    async setPrompt(text) {
      prompt = text;
      const trace = hasBegun && await recordingOf(method);
      if (trace && isFree()) receiver.send({ type: "status", text: wordsFor(trace) });
    },
    at,
    of: (name) => (name === method ? null : at(null, name)),
  };
}
