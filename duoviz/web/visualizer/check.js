// Whether a file holds a trace that can be drawn: duoviz/trace/fields.py says which fields it has, and race.py there those
// of a race.

import { createPacer } from "./pacer.js";
import { isKnown } from "./methods.js";
import { parseJson } from "./parse.js";

// Put in by duoviz/web/script.py.
const SHAPES = {};
export const MAX_FILE_BYTES = 50_000_000;

// A check takes a value and returns null, or where in it the first thing stands that is not as it should be: "" is the
// value itself. The place is put together on the way back, since almost always there is none.
const when = (holds) => (value) => (holds(value) ? null : "");
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const within = (value, low, high) => typeof value === "number" && value >= low && value <= high;

function list(check, most) {
  return (value) => {
    if (!Array.isArray(value) || value.length > most) return "";
    for (let index = 0; index < value.length; index++) {
      const wrong = check(value[index]);
      if (wrong !== null) return `[${index}]${wrong}`;
    }
    return null;
  };
}

function object(checks) {
  const fields = Object.entries(checks);
  return (value) => {
    if (!isObject(value)) return "";
    for (const [name, check] of fields) {
      const wrong = check(Object.hasOwn(value, name) ? value[name] : undefined);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

// What can be asked of a value whose fields are as they should be.
const RULES = {
  ordered: (value) => (value.start <= value.end ? null : ".end"),
  // So that no node is its own ancestor.
  "parents first": (nodes) => {
    const late = nodes.findIndex((each, index) => each.parent >= index);
    return late < 0 ? null : `[${late}].parent`;
  },
  "rest below": ({ checked, rest = [] }) => {
    const late = rest.findIndex((each, index) => each.parent >= checked.length + index);
    return late < 0 ? null : `.rest[${late}].parent`;
  },
};

const CHECK_OF_KIND = {
  whole: (low, high) => when((value) => Number.isInteger(value) && within(value, low, high)),
  number: (low, high) => when((value) => within(value, low, high)),
  text: (most) => when((value) => typeof value === "string" && value.length <= most),
  flag: () => when((value) => typeof value === "boolean"),
  "one of": (...words) => when((value) => words.includes(value)),
  list: (each, most) => list(checkOf(each), most),
  object: (fields) => object(Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, checkOf(each)]))),
  "or null": (each) => { const check = checkOf(each); return (value) => (value === null ? null : check(value)); },
  "or absent": (each) => { const check = checkOf(each); return (value) => (value === undefined ? null : check(value)); },
  rule: (name, each) => { const check = checkOf(each); return (value) => check(value) ?? RULES[name](value); },
};

function checkOf([kind, ...rest]) {
  return CHECK_OF_KIND[kind](...rest);
}

export const checks = Object.fromEntries(Object.entries(SHAPES).filter(([, shape]) => Array.isArray(shape)).map(([name, shape]) => [name, checkOf(shape)]));
// A method that this page does not know must say itself how it is shown.
const methodKnown = ({ about, method }) => (about || isKnown(method) ? null : ".header.method");

// All but what stands in the iterations.
function wrongOutside(trace) {
  const outside = object({
    header: checks.header, iterations: when((value) => Array.isArray(value) && value.length <= SHAPES.most), end: checks.end,
  });
  return outside(trace) ?? methodKnown(trace.header);
}

async function wrongIteration(iterations) {
  const pace = createPacer();
  let [before, written] = [0, 0];
  for (const [index, each] of iterations.entries()) {
    const wrong = checks.iteration(each);
    if (wrong !== null) return `.iterations[${index}]${wrong}`;
    for (const { text } of each.committed) written += SHAPES.token + text.length;
    if (each.index !== index || each.sync < before || written > SHAPES.written) return `.iterations[${index}]`;
    before = each.sync;
    await pace();
  }
  return null;
}

// Where in a value the first thing stands that is not as in a trace; null where all is.
export const wrongInTrace = async (trace) => wrongOutside(trace) ?? await wrongIteration(trace.iterations);

export const READS_SCHEMA = SHAPES.schema;
// What is said of a file that a newer duoviz wrote; null of all others. `kind`: what the file is.
export const newerWords = (kind, schema) => (Number.isInteger(schema) && schema > READS_SCHEMA
  ? `This ${kind} has schema ${schema}, and this page reads schema ${READS_SCHEMA} at most: it needs a newer duoviz.` : null);
export const wrongWords = (kind, place) => `This file is not a ${kind} that can be shown: "${place.slice(1)}" is missing or not as it should be.`;

// {trace}, or {problem}: one sentence.
export async function readTrace(json) {
  const { value, problem } = await parseJson(json);
  if (problem) return { problem: `This file is not a trace: it ${problem}.` };
  if (!isObject(value)) return { problem: "This file is not a trace: it holds no JSON object." };
  if (value.recordings) return { problem: "This file holds a race: the Compare tab opens it." };
  const newer = newerWords("trace", value.header?.schema);
  if (newer) return { problem: newer };
  const wrong = await wrongInTrace(value);
  if (wrong !== null) return { problem: wrongWords("trace", wrong) };
  if (!value.iterations.length) return { problem: "This trace has no iterations, so there is nothing to show." };
  return { trace: value };
}
