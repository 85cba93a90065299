// Whether JSON that others wrote is what a schema says, and a trace that can be drawn: duoviz/trace/trace.schema.json
// says which fields it has, and the rules here what a schema cannot say.

import { isKnown } from "./methods.js";
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The object that a text holds; null where it holds none.
function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const TYPES = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: Number.isFinite,
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

// Characters are counted as everywhere but in JavaScript, whose units are halves of some.
const isLonger = (text, most) => text.length > most && [...text.slice(0, 2 * most + 1)].length > most;

// Where in a value the first thing stands that is not as the schema says: "" is the value itself; null where all is.
// The limits follow a schema's type, which null may be too; how long a list may be is checked before what is in it.
export function wrongPlace(value, schema, definitions = schema.$defs) {
  const { type, enum: values, $ref, required = [], properties = {}, items } = schema;
  if (type && ![type].flat().some((name) => TYPES[name](value))) return "";
  if ($ref) return wrongPlace(value, definitions[$ref.replace("#/$defs/", "")], definitions);
  if (values && !values.includes(value)) return "";
  if (value === null) return null;
  if (value < schema.minimum || value > schema.maximum || value.length > schema.maxItems) return "";
  if (isLonger(value, schema.maxLength)) return "";
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `.${missing}`;
  for (const name in properties) {
    const wrong = Object.hasOwn(value, name) ? wrongPlace(value[name], properties[name], definitions) : null;
    if (wrong !== null) return `.${name}${wrong}`;
  }
  for (let index = 0; items && index < value.length; index++) {
    const wrong = wrongPlace(value[index], items, definitions);
    if (wrong !== null) return `[${index}]${wrong}`;
  }
  return null;
}

// Of long work others have a turn after so many iterations.
const SLICE = 200;

export const MAX_FILE_BYTES = 50_000_000;
const LIMITS = traceSchema["x-limits"];
const { items: ITERATION, ...LIST } = traceSchema.properties.iterations;
const WITHOUT_ITERATIONS = { ...traceSchema, properties: { ...traceSchema.properties, iterations: LIST } };

function wrongOrder({ target, draft, checked, drafted, rest = [] }) {
  if (target.end < target.start) return ".target.end";
  const backwards = draft.findIndex(({ start, end }) => end < start);
  if (backwards >= 0) return `.draft[${backwards}].end`;
  const trees = [["checked", checked, 0], ["drafted", drafted, 0], ["rest", rest, checked.length]];
  for (const [name, nodes, before] of trees) {
    const late = nodes.findIndex(({ parent }, index) => parent >= before + index);
    if (late >= 0) return `.${name}[${late}].parent`;
  }
  return null;
}

async function wrongIteration(iterations) {
  let [before, written] = [0, 0];
  for (const [index, each] of iterations.entries()) {
    const wrong = wrongPlace(each, ITERATION, traceSchema.$defs) ?? wrongOrder(each);
    if (wrong !== null) return `.iterations[${index}]${wrong}`;
    for (const { text } of each.committed) written += LIMITS.token + text.length;
    if (each.index !== index || each.sync < before || written > LIMITS.written) return `.iterations[${index}]`;
    before = each.sync;
    if (index % SLICE === SLICE - 1) await new Promise((done) => { setTimeout(done); });
  }
  return null;
}

// Where in a value the first thing stands that is not as in a trace; null where all is.
export async function wrongInTrace(trace) {
  const wrong = wrongPlace(trace, WITHOUT_ITERATIONS);
  if (wrong !== null) return wrong;
  const { about, method } = trace.header;
  return about || isKnown(method) ? wrongIteration(trace.iterations) : ".header.method";
}

export const READS_SCHEMA = traceSchema.$defs.header.properties.schema.maximum;
// What a file holds: {value}, or a {problem} in a sentence. kind: what it should be; other: what is said where it is of
// the other kind; schemaOf: its schema's number; wrongIn: see `wrongInTrace`.
export async function readAs(kind, text, { isOther, other, schemaOf, wrongIn }) {
  const value = parseObject(text);
  if (!value) return { problem: `This file is not a ${kind}: it is not a JSON object.` };
  if (isOther(value)) return { problem: other };
  const schema = schemaOf(value);
  if (Number.isInteger(schema) && schema > READS_SCHEMA) {
    return { problem: `This ${kind} has schema ${schema}, and this page reads schema ${READS_SCHEMA} at most: it needs a newer duoviz.` };
  }
  const wrong = await wrongIn(value);
  return wrong === null ? { value }
    : { problem: `This file is not a ${kind} that can be shown: "${wrong.slice(1)}" is missing or wrong.` };
}

export async function readTrace(text) {
  const { problem, value } = await readAs("trace", text, {
    isOther: ({ recordings }) => recordings, other: "This file holds a race: open it in the Compare tab.",
    schemaOf: ({ header }) => header?.schema, wrongIn: wrongInTrace,
  });
  if (problem) return { problem };
  return value.iterations.length ? { trace: value } : { problem: "This trace has no iterations, so there is nothing to show." };
}
