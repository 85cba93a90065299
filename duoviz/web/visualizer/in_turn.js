// The sentences of the methods that propose first and verify then, and of the target alone.

import { count, fixed, known, quote } from "./words.js";

const LONGEST_END = 48;

// Proposals come first in `checked`, so that their parents are indices into this list too.
const proposalsOf = (iteration) => iteration.checked.filter((node) => node.status !== "correction" && node.status !== "window");

function branchCount(proposals) {
  const parents = new Set(proposals.map((node) => node.parent));
  return proposals.filter((node, index) => !parents.has(index)).length;
}

// A special token has no text of its own among the committed ones; its node names it.
const ownText = (iteration) => quote((iteration.checked.find((node) => node.status === "correction") ?? iteration.committed.at(-1))?.text ?? "");

function agreedWith(accepted, proposed, whole = "") {
  if (!accepted) return proposed === 1 ? "did not agree with it" : "agreed with none";
  if (whole) return `agreed with ${count(accepted, "token")} of ${whole}`;
  if (accepted < proposed) return `agreed with ${accepted}`;
  return proposed === 1 ? "agreed with it" : "agreed with all";
}

function targetClause(iteration, whole) {
  const proposals = proposalsOf(iteration);
  const accepted = proposals.filter((node) => node.status === "accepted").length;
  const rejected = proposals.filter((node) => node.status === "rejected");
  const agreed = `the target ${agreedWith(accepted, proposals.length, whole)}`;
  if (iteration.committed.at(-1)?.source !== "target") return `${agreed}, and the text ends there`;
  if (!rejected.length) return `${agreed} and added ${ownText(iteration)}`;
  const refused = rejected.length === 1 ? ` of ${quote(rejected[0].text)}` : "";
  return `${agreed} and ${accepted ? "then " : ""}wrote ${ownText(iteration)} instead${refused}`;
}

// How the end of the text that was found elsewhere is called; older traces do not say how long it was.
function foundEnd({ matched }) {
  if (!matched) return null;
  const tokens = matched.tokens === 1 ? "token" : `${matched.tokens} tokens`;
  return `The last ${tokens}, ${quote(matched.text, LONGEST_END)},`;
}

function draftProposed(proposals) {
  const named = proposals.filter((node) => known(node.q)).slice(0, 3).map((node) => `${fixed(node.q, 2)} for ${quote(node.text)}`);
  return `The draft proposed ${count(proposals.length, "token")} (${named.join(", ")}${proposals.length > named.length ? ", …" : ""})`;
}

const VERIFIED = {
  speculative: (iteration, proposals) => `${draftProposed(proposals)}; ${targetClause(iteration)}`,
  prompt_lookup(iteration, { length }) {
    const followed = length === 1 ? "one token followed there, and" : `of the ${length} tokens that followed there,`;
    return `${foundEnd(iteration) ?? "The end of the text"} stood earlier in the text; ${followed} ${targetClause(iteration)}`;
  },
  rest(iteration, proposals) {
    const branches = branchCount(proposals);
    const knew = `${count(proposals.length, "token")} in ${branches} ${branches === 1 ? "branch" : "branches"}`;
    const end = foundEnd(iteration);
    return `${end ? `${end} stood in the datastore, followed by` : "The datastore knew"} ${knew}; ${targetClause(iteration)}`;
  },
  lookahead(iteration, proposals) {
    const guesses = branchCount(proposals);
    const verified = guesses === 1 ? "1 guess from the pool was" : `${guesses} guesses from the pool were`;
    return `${verified} verified; ${targetClause(iteration, guesses === 1 ? "it" : "one")}`;
  },
};

const NOTHING_PROPOSED = {
  speculative: "The draft proposed nothing",
  prompt_lookup: "Nothing like the end of the text stood earlier",
  rest: "The datastore knew nothing like the end of the text",
  lookahead: "The pool held no guess that begins with the last token",
};

const oneToken = (iteration) => (iteration.committed.length ? `one token: ${ownText(iteration)}` : "no new token");

function aloneClause(iteration, { header, before, end, last }) {
  const full = header.settings.max_new_tokens - before === 1 || (last && end?.stopped === "context");
  const why = full ? "There was room for one token only" : NOTHING_PROPOSED[header.method];
  return `${why}, so the target wrote ${oneToken(iteration)}`;
}

export function inTurnSentence(iteration, about) {
  const { header } = about;
  const read = iteration.index === 0 ? `The target read the prompt (${count(header.prompt_tokens, "token")})` : "";
  if (header.method === "vanilla") return `${read ? `${read} and` : "The target"} computed ${oneToken(iteration)}.`;
  const proposals = proposalsOf(iteration);
  const told = proposals.length ? VERIFIED[header.method](iteration, proposals) : aloneClause(iteration, about);
  const window = iteration.checked.filter((node) => node.status === "window").length;
  const looked = window ? ` In the same forward, a window of ${count(window, "token")} looked for new guesses.` : "";
  return `${read ? `${read}. ` : ""}${told}.${looked}`;
}
