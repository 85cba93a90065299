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

// Where in a value the first thing stands that is not as the schema says: "" is the value itself; null where all is.
// The limits follow a schema's type, which null may be too; how long a list may be is checked before what is in it.
export function wrongPlace(value, schema, definitions = schema.$defs) {
  const { type, enum: values, $ref, required = [], properties = {}, items } = schema;
  if (type && ![type].flat().some((name) => TYPES[name](value))) return "";
  if ($ref) return wrongPlace(value, definitions[$ref.slice(DEFINITION.length)], definitions);
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
