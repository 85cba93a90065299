// What is saved or copied: the trace, and the page that replays it.

import { el, setText, textButton } from "./dom.js";

// In a frame a browser may drop what is saved, and tells nobody.
const IN_A_FRAME = globalThis.parent === globalThis.self ? ""
  : " No file? The page around this one may forbid downloads: open this one in a tab of its own.";

// Gives what is said of it.
export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return `Saved as ${name}.${IN_A_FRAME}`;
}

export const REFUSED = "The browser did not let this page copy. The text is selected: press Ctrl+C (⌘C on a Mac).";

// Whether a text could be copied: a page that may not has no clipboard, or a refusal.
export const copied = (text) => (async () => navigator.clipboard.writeText(text))().then(() => true, () => false);

// A button that copies `textOf()`, which from then on stands in `field` too, and what came of it: `done`, or why not.
export function copyTools(label, field, textOf, done) {
  const told = el("p", { class: "dl-note", role: "status" });
  field.hidden = true;
  const button = textButton(label, async () => {
    field.hidden = false;
    field.value = textOf();
    field.select();
    setText(told, (await copied(field.value)) ? done : REFUSED);
  });
  return { button, told };
}

// The one file that replays a trace; its texts hold no markup.
export function replayPage([before, after], trace) {
  return new Blob([before, JSON.stringify(trace).replaceAll("<", "\\u003c"), after], { type: "text/html" });
}

export const traceOf = ({ header, iterations, end }) => ({ header, iterations, end });

export function fileName({ method, date }) {
  const when = String(date ?? "").slice(0, 19).replace(/[^0-9T-]/g, "");
  return `duoviz-${method}${when ? `-${when}` : ""}`;
}
