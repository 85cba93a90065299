// What is known of the methods. A run's own header says what its method is; older recordings get what is known today.

export const TARGET = { id: "target", token: "token from the target", origin: "from the target" };

let known = {};

// methods: as `duoviz.decoding.method` describes them, from whoever puts the scripts on a page.
export const know = (methods) => { known = methods; };

export const isKnown = (method) => Object.hasOwn(known, method);

// What the page calls both models, and the method that guesses nothing: as the opening does.
export const MODELS = { target: "large model", draft: "small model" };
const ALONE = { title: "Large model alone", name: "Large model alone (vanilla)" };
const UNKNOWN = { title: "", name: "", draft: false, parallel: false, proposers: [], statuses: [], numbers: [], caption: "", verified: "", nothing: "" };
export function aboutOf(header) {
  const about = header?.about ?? (header && isKnown(header.method) ? known[header.method] : UNKNOWN);
  return header?.method === "vanilla" ? { ...about, ...ALONE } : about;
}

export function allProposers() {
  const proposers = Object.values(known).flatMap((method) => method.proposers);
  return [...new Map(proposers.map((proposer) => [proposer.id, proposer])).values(), TARGET];
}

export const colorOf = (method) => known[method]?.color ?? "currentColor";

export function originOf(source, header) {
  const found = [...aboutOf(header).proposers, ...allProposers()].find(({ id }) => id === source);
  return found?.origin ?? `from ${source}`;
}
