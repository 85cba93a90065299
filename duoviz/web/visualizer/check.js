// Whether a file holds a trace that can be drawn (duoviz/trace/schema.py): the types of all fields that are read.

import { createPacer } from "./pacer.js";
import { parseJson } from "./parse.js";

const SCHEMA = 1;
export const MAX_FILE_BYTES = 50_000_000;
const MAX_TEXT = 20_000;
const MAX_PROMPT = 2_000_000;
const MAX_NUMBER = 1e9;
const MAX_ITERATIONS = 200_000;
const KNOWN_STATUSES = ["pending", "accepted", "rejected", "discarded", "correction", "window"];
const KNOWN_SOURCES = ["draft", "prompt", "datastore", "lookahead", "target"];
const OUTCOMES = ["hit", "miss", "rejection", "none"];
const KNOWN_METHODS = ["vanilla", "speculative", "prompt_lookup", "rest", "lookahead", "duodecoding"];

// A check takes a value and returns null, or where in it the first thing stands that is not as it should be: "" is the
// value itself. The place is put together on the way back, since almost always there is none.
const when = (holds) => (value) => (holds(value) ? null : "");
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const within = (value, low, high) => typeof value === "number" && value >= low && value <= high;
const whole = (low, high) => when((value) => Number.isInteger(value) && within(value, low, high));
const time = when((value) => within(value, 0, MAX_NUMBER));
const share = when((value) => within(value, 0, 1.001));
const string = (most) => when((value) => typeof value === "string" && value.length <= most);
const text = string(MAX_TEXT);
const flag = when((value) => typeof value === "boolean");
const oneOf = (words) => when((value) => words.includes(value));
const maybe = (check) => (value) => (value === null ? null : check(value));
const optional = (check) => (value) => (value === undefined ? null : check(value));

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

const span = (count) => {
  const fields = object({ start: time, end: time, [count]: whole(0, MAX_NUMBER) });
  return (value) => fields(value) ?? (value.start <= value.end ? null : ".end");
};
const id = whole(0, MAX_NUMBER);
const node = object({
  id, text, parent: whole(-1, MAX_NUMBER), source: oneOf(KNOWN_SOURCES), q: maybe(share), count: maybe(whole(1, MAX_NUMBER)),
  p: maybe(share), status: oneOf(KNOWN_STATUSES),
});
const nodes = list(node, 10_000);

// Parents stand before their children, so that no node is its own ancestor.
function tree(value) {
  const wrong = nodes(value);
  if (wrong !== null) return wrong;
  const late = value.findIndex((each, index) => each.parent >= index);
  return late < 0 ? null : `[${late}].parent`;
}

const model = object({ name: text, device: text });
const header = object({
  schema: whole(1, SCHEMA), method: oneOf(KNOWN_METHODS), target: model, draft: maybe(model), can_overlap: flag,
  settings: object({ max_new_tokens: whole(1, MAX_NUMBER) }), prompt: string(MAX_PROMPT), prompt_tokens: whole(0, MAX_NUMBER),
});
const iteration = object({
  index: whole(0, MAX_NUMBER), mode: maybe(oneOf(["prefill", "pre", "post"])), target: span("rows"),
  draft: list(span("tokens"), 10_000), sync: time, budget: maybe(whole(0, 10_000)),
  longest: optional(maybe(whole(0, 10_000))), theta: maybe(share), sequences: maybe(whole(0, 64)),
  matched: optional(maybe(object({ tokens: whole(1, MAX_NUMBER), text }))),
  candidates: list(object({ id, text, p: share, over: flag }), 100), checked: tree, drafted: tree,
  verdict: object({ outcome: oneOf(OUTCOMES), tested: whole(0, MAX_NUMBER), accepted: whole(0, MAX_NUMBER), sequence: maybe(whole(0, 64)) }),
  committed: list(object({ id, text, source: oneOf(KNOWN_SOURCES), gap: maybe(when((value) => within(value, 0, Number.MAX_VALUE))) }), 10_000),
});
// All but what stands in the iterations.
const trace = object({
  header, iterations: when((value) => Array.isArray(value) && value.length <= MAX_ITERATIONS),
  end: maybe(object({ stopped: text, message: optional(text) })),
});

async function wrongIteration(iterations) {
  const pace = createPacer();
  let before = 0;
  for (const [index, each] of iterations.entries()) {
    const wrong = iteration(each) ?? (each.index === index && each.sync >= before ? null : "");
    if (wrong !== null) return `.iterations[${index}]${wrong}`;
    before = each.sync;
    await pace();
  }
  return null;
}

// {trace}, or {problem}: one sentence.
export async function readTrace(json) {
  const { value, problem } = await parseJson(json);
  if (problem) return { problem: `This file is not a trace: it ${problem}.` };
  if (!isObject(value)) return { problem: "This file is not a trace: it holds no JSON object." };
  const schema = value.header?.schema;
  if (Number.isInteger(schema) && schema > SCHEMA) {
    return { problem: `This trace has schema ${schema}, and this page reads schema ${SCHEMA} at most: it needs a newer duoviz.` };
  }
  const wrong = trace(value) ?? await wrongIteration(value.iterations);
  if (wrong !== null) return { problem: `This file is not a trace that can be shown: "${wrong.slice(1)}" is missing or not as it should be.` };
  if (!value.iterations.length) return { problem: "This trace has no iterations, so there is nothing to show." };
  return { trace: value };
}
