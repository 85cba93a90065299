// Reading JSON that others wrote: as deep and as large as it may be, and as a schema says.

const MAX_DEPTH = 32;
// As in duoviz/outside.py. A list and an object count for so many values, empty ones too.
const MAX_VALUES = 20_000_000;
const [LIST, OBJECT] = [3, 8];
const [COMMA, OPEN_LIST, OPEN_OBJECT] = [44, 91, 123];

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

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

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

const DEFINITION = "#/$defs/";
const when = (isWrong) => (isWrong ? "" : null);

// A keyword takes a value, its own argument and the schema's definitions, and returns null, or where in the value the
// first thing stands that is not as it should be: "" is the value itself. Of values of other types it says nothing.
export const KEYWORDS = {
  type: (value, name) => when(Array.isArray(name) ? !name.some((each) => TYPES[each](value)) : !TYPES[name](value)),
  enum: (value, values) => when(!values.includes(value)),
  minimum: (value, least) => when(Number.isFinite(value) && value < least),
  maximum: (value, most) => when(Number.isFinite(value) && value > most),
  maxLength: (value, most) => when(typeof value === "string" && isLonger(value, most)),
  maxItems: (value, most) => when(Array.isArray(value) && value.length > most),
  required: (value, names) => {
    const missing = isObject(value) ? names.find((name) => !Object.hasOwn(value, name)) : undefined;
    return missing === undefined ? null : `.${missing}`;
  },
  properties: (value, schemas, definitions) => {
    if (!isObject(value)) return null;
    for (const name in schemas) {
      const wrong = Object.hasOwn(value, name) ? wrongPlace(value[name], schemas[name], definitions) : null;
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  },
  items: (value, schema, definitions) => {
    if (!Array.isArray(value)) return null;
    for (let index = 0; index < value.length; index++) {
      const wrong = wrongPlace(value[index], schema, definitions);
      if (wrong !== null) return `[${index}]${wrong}`;
    }
    return null;
  },
  $ref: (value, name, definitions) => wrongPlace(value, definitions[name.slice(DEFINITION.length)], definitions),
};

// The keywords are checked as the schema lists them: how long a list may be, before what is in it.
export function wrongPlace(value, schema, definitions = schema.$defs) {
  for (const keyword in schema) {
    const wrong = KEYWORDS[keyword]?.(value, schema[keyword], definitions) ?? null;
    if (wrong !== null) return wrong;
  }
  return null;
}
