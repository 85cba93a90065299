// Holds values to a JSON Schema (draft 2020-12), as far as duoviz's schemas use it. All else is refused when a schema
// is compiled, so that it says nothing that the page ignores.

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
const ANNOTATIONS = ["$schema", "$id", "$defs", "title", "description", "examples", "x-limits"];

// A check takes a value and returns null, or where in it the first thing stands that is not as it should be: "" is the
// value itself. The place is put together on the way back, since almost always there is none.
const when = (holds) => (value) => (holds(value) ? null : "");
// Of values of other types a keyword says nothing.
const whenOf = (is, holds) => (value) => (!is(value) || holds(value) ? null : "");

// Characters are counted as everywhere but in JavaScript, whose units are halves of some.
const atMost = (text, most) => text.length <= most || (text.length <= 2 * most && [...text].length <= most);

function type(names) {
  const [is, ...others] = [names].flat().map((name) => known(TYPES, name));
  return when(others.length ? (value) => is(value) || others.some((also) => also(value)) : is);
}

function required(names) {
  return (value) => {
    const missing = isObject(value) ? names.find((name) => !Object.hasOwn(value, name)) : undefined;
    return missing === undefined ? null : `.${missing}`;
  };
}

function properties(schemas, compiled) {
  const fields = Object.entries(schemas).map(([name, schema]) => [name, compiled(schema)]);
  return (value) => {
    if (!isObject(value)) return null;
    for (const [name, check] of fields) {
      const wrong = Object.hasOwn(value, name) ? check(value[name]) : null;
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

function items(schema, compiled) {
  const check = compiled(schema);
  return (value) => {
    if (!Array.isArray(value)) return null;
    for (let index = 0; index < value.length; index++) {
      const wrong = check(value[index]);
      if (wrong !== null) return `[${index}]${wrong}`;
    }
    return null;
  };
}

// In the order in which they are checked: how long a list is, before what is in it.
const KEYWORDS = {
  type,
  $ref: (name, compiled) => compiled.definition(name),
  enum: (values) => when((value) => values.includes(value)),
  const: (only) => when((value) => value === only),
  minimum: (low) => whenOf(TYPES.number, (value) => value >= low),
  maximum: (high) => whenOf(TYPES.number, (value) => value <= high),
  minLength: (least) => whenOf(TYPES.string, (value) => !atMost(value, least - 1)),
  maxLength: (most) => whenOf(TYPES.string, (value) => atMost(value, most)),
  minItems: (least) => whenOf(TYPES.array, (value) => value.length >= least),
  maxItems: (most) => whenOf(TYPES.array, (value) => value.length <= most),
  required,
  properties,
  items,
};

function known(table, name) {
  if (!Object.hasOwn(table, name)) throw new Error(`A schema has "${name}", which is not read here.`);
  return table[name];
}

// The check of a schema, or of one that stands in it.
export function compile(root, start = root) {
  const definitions = new Map();

  function compiled(schema) {
    if (!isObject(schema)) throw new Error(`A schema is ${schema}, which is not read here.`);
    const used = Object.keys(schema).filter((name) => !ANNOTATIONS.includes(name));
    for (const name of used) known(KEYWORDS, name);
    const keywords = Object.keys(KEYWORDS).filter((name) => used.includes(name));
    const checks = keywords.map((name) => KEYWORDS[name](schema[name], compiled));
    return checks.length ? checks.reduce((one, other) => (value) => one(value) ?? other(value)) : () => null;
  }

  compiled.definition = (name) => {
    if (!definitions.has(name)) definitions.set(name, compiled(known(root.$defs, name.replace("#/$defs/", ""))));
    return definitions.get(name);
  };
  return compiled(start);
}
