// What is saved or copied: the trace, the page that replays it, and the timeline as a Chrome trace.

import { el } from "./dom.js";
import { known } from "./words.js";

// In a frame a browser may drop what is saved, and tells nobody.
const isFramed = globalThis.parent !== globalThis.self;
export const SAVED_IN_A_FRAME = isFramed ? " No file? The page around this one may forbid downloads: open this one in a tab of its own." : "";
export const savedAs = (name) => `Saved as ${name}.${SAVED_IN_A_FRAME}`;

export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const REFUSED = "The browser did not let this page copy. The text is selected: press Ctrl+C (⌘C on a Mac).";

// Whether a text could be copied: a page that may not has no clipboard, or a refusal.
export const copied = (text) => (async () => navigator.clipboard.writeText(text))().then(() => true, () => false);

// The one file that replays a trace; its texts hold no markup.
export function replayPage([before, after], trace) {
  return new Blob([before, JSON.stringify(trace).replaceAll("<", "\\u003c"), after], { type: "text/html" });
}

export const traceOf = ({ header, iterations, end }) => ({ header, iterations, end });

export function fileName({ method, date }) {
  const when = String(date ?? "").slice(0, 19).replace(/[^0-9T-]/g, "");
  return `duoviz-${method}${when ? `-${when}` : ""}`;
}

const micro = (seconds) => Math.round(1e6 * seconds * 1000) / 1000;

function complete(lane, { start, end }, name, args) {
  return { name, cat: lane, ph: "X", ts: micro(start), dur: micro(end - start), pid: 1, tid: lane === "target" ? 1 : 2, args };
}

function iterationEvents(iteration) {
  const { index, target, draft, budget, longest, theta, sequences, verdict, committed } = iteration;
  const facts = { iteration: index, rows: target.rows, committed: committed.map((token) => token.text).join(""), outcome: verdict.outcome };
  const named = Object.entries({ gamma: budget, longest, theta, k: sequences });
  for (const [name, value] of named) if (known(value)) facts[name] = value;
  const steps = draft.map((step) => complete("draft", step, "draft step", { iteration: index, tokens: step.tokens }));
  return [complete("target", target, "target forward", facts), ...steps];
}

// The JSON array format of Chrome's trace viewer, which Perfetto opens too: complete events in microseconds.
export function chromeTrace({ header, iterations }) {
  const named = (name, tid, args) => ({ name, ph: "M", pid: 1, tid, args });
  const names = [["target", 1], ["draft", 2]].filter(([lane]) => header[lane]).flatMap(([lane, tid]) => [
    named("thread_name", tid, { name: `${lane === "target" ? "Target" : "Draft"} · ${header[lane].device}` }),
    named("thread_sort_index", tid, { sort_index: tid }),
  ]);
  return [named("process_name", 0, { name: `duoviz ${header.method}` }), ...names, ...iterations.flatMap(iterationEvents)];
}
