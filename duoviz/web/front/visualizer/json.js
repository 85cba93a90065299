// Reading JSON that others wrote, as a schema says.

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The object that a text holds; null where it holds none.
export function parseObject(text) {
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
