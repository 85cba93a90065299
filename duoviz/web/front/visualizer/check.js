// Whether a file holds a trace that can be drawn: duoviz/trace/trace.schema.json says which fields it has, and the
// rules here what a schema cannot say.

import { parseObject, wrongPlace } from "./json.js";
import { isKnown } from "./methods.js";
import traceSchema from "../../../trace/trace.schema.json" with { type: "json" };

// Of long work others have a turn after so many iterations.
const SLICE = 200;

export const MAX_FILE_BYTES = 50_000_000;
const LIMITS = traceSchema["x-limits"];
const { items: ITERATION, ...LIST } = traceSchema.properties.iterations;
const WITHOUT_ITERATIONS = { ...traceSchema, properties: { ...traceSchema.properties, iterations: LIST } };

const methodKnown = ({ about, method }) => (about || isKnown(method) ? null : ".header.method");

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
export const wrongInTrace = async (trace) => (
  wrongPlace(trace, WITHOUT_ITERATIONS) ?? methodKnown(trace.header) ?? await wrongIteration(trace.iterations)
);

export const READS_SCHEMA = traceSchema.$defs.header.properties.schema.maximum;
// What is said of a file that a newer duoviz wrote; null of all others. `kind`: what the file is.
export const newerWords = (kind, schema) => (Number.isInteger(schema) && schema > READS_SCHEMA
  ? `This ${kind} has schema ${schema}, and this page reads schema ${READS_SCHEMA} at most: it needs a newer duoviz.`
  : null);
export const wrongWords = (kind, place) => (
  `This file is not a ${kind} that can be shown: "${place.slice(1)}" is missing or wrong.`
);

export async function readTrace(json) {
  const value = parseObject(json);
  if (!value) return { problem: "This file is not a trace: it is not a JSON object." };
  if (value.recordings) return { problem: "This file holds a race: open it in the Compare tab." };
  const newer = newerWords("trace", value.header?.schema);
  if (newer) return { problem: newer };
  const wrong = await wrongInTrace(value);
  if (wrong !== null) return { problem: wrongWords("trace", wrong) };
  if (!value.iterations.length) return { problem: "This trace has no iterations, so there is nothing to show." };
  return { trace: value };
}
