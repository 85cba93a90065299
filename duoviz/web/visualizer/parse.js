// A trace's JSON, parsed in parts: a long run's text in one piece would hold the page up.

import { createPacer } from "./pacer.js";

const PART = 100_000;
const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
// What [ and { have in common, and ] and }, whose codes differ in one bit from theirs.
const [BRACKET_BIT, OPENING, CLOSING] = [32, 123, 125];

// Where the string that begins at `start` has its closing quote; the text's end where it has none.
function endOfString(text, start) {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

// Where the list under the outermost key "iterations" begins and ends, and commas at which it can be cut into parts; null
// where there is none. Strings are passed over, so that no text of a model's is taken for a bracket.
async function findParts(text, pace) {
  let [depth, start, part] = [0, -1, 0];
  const cuts = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const close = endOfString(text, at);
      if (depth === 1 && start < 0 && text.slice(at, close + 1) === '"iterations"') {
        const list = /^\s*:\s*\[/.exec(text.slice(close + 1, close + 100));
        if (list) start = part = close + 1 + list[0].length;
      }
      at = close;
    } else if ((code | BRACKET_BIT) === OPENING) {
      depth++;
    } else if ((code | BRACKET_BIT) === CLOSING) {
      depth--;
      if (depth === 1 && start >= 0) return { start, end: at, cuts };
    } else if (code === COMMA && depth === 2 && start >= 0 && at - part > PART) {
      cuts.push(at);
      part = at;
      await pace();
    }
  }
  return null;
}

// What JSON.parse gives; undefined where it throws.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The text's value; undefined where it is no JSON.
export async function parseTrace(text) {
  const pace = createPacer();
  const found = await findParts(text, pace);
  if (!found?.cuts.length) return parsed(text);
  const value = parsed(text.slice(0, found.start) + text.slice(found.end));
  const iterations = [];
  const ends = [...found.cuts, found.end];
  for (let index = 0; index < ends.length; index++) {
    const part = parsed(`[${text.slice(index ? ends[index - 1] + 1 : found.start, ends[index])}]`);
    // Nothing before or after a comma is no JSON.
    if (!part?.length) return undefined;
    iterations.push(...part);
    await pace();
  }
  return value && { ...value, iterations };
}
