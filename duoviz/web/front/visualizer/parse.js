// A file's JSON, refused where it is nested too deep or too large (as in duoviz/outside.py).

const MAX_DEPTH = 32;
const MAX_VALUES = 20_000_000;
// What a list and an object count for, empty ones too.
const [LIST, OBJECT] = [3, 8];
const [COMMA, OPEN_LIST, OPEN_OBJECT] = [44, 91, 123];

// How many values a text may hold; the signs in its strings are counted with the others.
function valuesIn(text) {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA) values++;
    else if (code === OPEN_LIST) values += LIST;
    else if (code === OPEN_OBJECT) values += OBJECT;
  }
  return values;
}

// The end of a sentence, what the value is or has that it must not; null where it is as it may be.
function problemOf(value, levels = MAX_DEPTH) {
  if (value === Infinity || value === -Infinity) return "has a number that is too large";
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return `is nested deeper than ${MAX_DEPTH} levels`;
  for (const each of Object.values(value)) {
    const problem = problemOf(each, levels - 1);
    if (problem) return problem;
  }
  return null;
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
export function parseJson(text) {
  if (valuesIn(text) > MAX_VALUES) return { problem: `has more than ${MAX_VALUES.toLocaleString("en")} values` };
  try {
    const value = JSON.parse(text);
    const problem = problemOf(value);
    return problem ? { problem } : { value };
  } catch {
    return { problem: "is not JSON" };
  }
}
