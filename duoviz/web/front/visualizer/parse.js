// A file's JSON, refused where it is nested too deep or too large (as in duoviz/outside.py), and parsed in parts: a
// long run's text in one piece would hold the page up.

import { createPacer } from "./pacer.js";

const PART = 100_000;
const MAX_DEPTH = 32;
const MAX_VALUES = 20_000_000;
const [LIST, OBJECT] = [3, 8];
// Only numbers with more digits, or such an exponent, may be more than a number of JavaScript's.
const MANY_DIGITS = 40;
const LARGE_EXPONENT = /[eE]\+?0*[1-9][0-9]{2}/y;
const [QUOTE, COMMA, BACKSLASH, ZERO, NINE, LETTER_E, SMALL_BIT] = [34, 44, 92, 48, 57, 101, 32];
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

// {parts}: where the list under the outermost key "iterations" begins and ends, and commas at which it can be cut into
// parts, null where there is none; and whether a number may be infinite; or {problem}. Strings are passed over, so that
// no text of a model's is taken for a bracket.
async function findParts(text, pace) {
  let [depth, values, digits, start, part, rested] = [0, 0, 0, -1, 0, 0];
  let [parts, mayBeInfinite] = [null, false];
  const cuts = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    digits = code >= ZERO && code <= NINE ? digits + 1 : 0;
    if (digits) {
      mayBeInfinite ||= digits >= MANY_DIGITS;
    } else if (code === QUOTE) {
      const close = endOfString(text, at);
      if (depth === 1 && start < 0 && text.slice(at, close + 1) === '"iterations"') {
        const list = /^\s*:\s*\[/.exec(text.slice(close + 1, close + 100));
        if (list) start = part = close + 1 + list[0].length;
      }
      at = close;
    } else if ((code | BRACKET_BIT) === OPENING) {
      if (++depth > MAX_DEPTH) return { problem: `is nested deeper than ${MAX_DEPTH} levels` };
      values += code === OPENING ? OBJECT : LIST;
    } else if ((code | BRACKET_BIT) === CLOSING) {
      depth--;
      if (depth === 1 && start >= 0) parts ??= { start, end: at, cuts };
    } else if (code === COMMA) {
      values++;
      if (depth === 2 && start >= 0 && !parts && at - part > PART) cuts.push(part = at);
      if (at - rested > PART) {
        rested = at;
        await pace();
      }
    } else if ((code | SMALL_BIT) === LETTER_E) {
      LARGE_EXPONENT.lastIndex = at;
      mayBeInfinite ||= LARGE_EXPONENT.test(text);
    }
    if (values > MAX_VALUES) return { problem: `has more than ${MAX_VALUES.toLocaleString("en")} values` };
  }
  return { parts, mayBeInfinite };
}

// What JSON.parse gives; undefined where it throws.
function parsed(text, see) {
  try {
    return JSON.parse(text, see);
  } catch {
    return undefined;
  }
}

function hasInfinite(text) {
  let found = false;
  parsed(text, (_, value) => {
    found ||= value === Infinity || value === -Infinity;
  });
  return found;
}

// The text's value; undefined where it is no JSON.
async function parseParts(text, { start, end, cuts }, pace) {
  const value = parsed(text.slice(0, start) + text.slice(end));
  const iterations = [];
  const ends = [...cuts, end];
  for (let index = 0; index < ends.length; index++) {
    const part = parsed(`[${text.slice(index ? ends[index - 1] + 1 : start, ends[index])}]`);
    // Nothing before or after a comma is no JSON.
    if (!part?.length) return undefined;
    iterations.push(...part);
    await pace();
  }
  return value && { ...value, iterations };
}

// What `read` makes of a file's text: {problem} or another object. kind: what the file should be; most: its bytes.
export async function readFile(file, { kind, most, read }) {
  if (file.size > most) {
    const size = Math.ceil(file.size / 1e6);
    return { problem: `This file has ${size} MB, and a ${kind} may have at most ${most / 1e6} MB.` };
  }
  try {
    return await read(await file.text());
  } catch {
    return { problem: "This file cannot be read." };
  }
}

// {value}, or {problem}: the end of a sentence, what the text is or has.
export async function parseJson(text) {
  const pace = createPacer();
  const { parts, mayBeInfinite, problem } = await findParts(text, pace);
  if (problem) return { problem };
  if (mayBeInfinite && hasInfinite(text)) return { problem: "has a number that is too large" };
  const value = parts?.cuts.length ? await parseParts(text, parts, pace) : parsed(text);
  return value === undefined ? { problem: "is not JSON" } : { value };
}
