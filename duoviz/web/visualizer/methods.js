// What is known of the methods. A run's own header says what its method is; older recordings get what is known today.

// Put in by duoviz/web/script.py, by the methods' ids.
const KNOWN_METHODS = {};
export const TARGET = { id: "target", token: "token from the target", origin: "from the target" };

export const isKnown = (method) => Object.hasOwn(KNOWN_METHODS, method);

// All but the method's name and title may be asked before a run has begun.
const UNKNOWN = { title: "", name: "", draft: false, parallel: false, proposers: [], statuses: [], numbers: [], caption: "", verified: "", nothing: "" };
export const aboutOf = (header) => header?.about ?? (header && isKnown(header.method) ? KNOWN_METHODS[header.method] : UNKNOWN);

// All that propose tokens, by the `source` of their tokens.
const PROPOSERS = new Map([TARGET, ...Object.values(KNOWN_METHODS).flatMap(({ proposers }) => proposers)].map((each) => [each.id, each]));
export const allProposers = () => [...PROPOSERS.values()].sort((one, other) => (one.id === "target") - (other.id === "target"));

// Where a token comes from, in words.
export function originOf(source, header) {
  const own = aboutOf(header).proposers.find(({ id }) => id === source);
  return (own ?? PROPOSERS.get(source))?.origin ?? `from ${source}`;
}
