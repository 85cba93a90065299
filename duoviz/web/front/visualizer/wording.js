// The sentence of an iteration that proposed first and verified then, from its method's own words.

import { count, fixed, known, quote } from "./words.js";

const LONGEST_END = 48;
const MORE = 3;

// Proposals come first in `checked`, so that their parents are indices into this list too.
export const proposalsOf = (iteration) => iteration.checked.filter((node) => node.status !== "correction" && node.status !== "window");

function branchCount(proposals) {
  const parents = new Set(proposals.map((node) => node.parent));
  return proposals.filter((node, index) => !parents.has(index)).length;
}

// A special token has no text of its own among the committed ones; its node names it.
export const ownText = (iteration) => quote((iteration.checked.find((node) => node.status === "correction") ?? iteration.committed.at(-1))?.text ?? "");

function agreedWith(accepted, proposed, whole) {
  if (!accepted) return proposed === 1 ? "did not agree with it" : "agreed with none";
  if (whole) return `agreed with ${count(accepted, "token")} of ${whole}`;
  if (accepted < proposed) return `agreed with ${accepted}`;
  return proposed === 1 ? "agreed with it" : "agreed with all";
}

function targetClause(iteration, proposals, whole) {
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
  if (!matched) return "The end of the text";
  const tokens = matched.tokens === 1 ? "token" : `${matched.tokens} tokens`;
  return `The last ${tokens}, ${quote(matched.text, LONGEST_END)},`;
}

export function listChances(nodes) {
  const named = nodes.filter((node) => known(node.q)).slice(0, MORE).map((node) => `${fixed(node.q, 2)} for ${quote(node.text)}`);
  return named.length ? `${named.join(", ")}${nodes.length > named.length ? ", …" : ""}` : "";
}

const numbered = (number, one, many) => (number === 1 ? one : many).replace("#", number);

// What the places in a method's words stand for: {end}, {chances}, {target}; {tokens:one|many} and {branches:one|many},
// # being the number; {target:one|many} says of what the target agreed with some tokens, by the number of branches.
export function verifiedSentence(words, iteration) {
  const proposals = proposalsOf(iteration);
  const branches = branchCount(proposals);
  const places = new Map(Object.entries({
    end: () => foundEnd(iteration),
    chances: () => listChances(proposals),
    tokens: (one, many) => numbered(proposals.length, one, many),
    branches: (one, many) => numbered(branches, one, many),
    target: (one, many) => targetClause(iteration, proposals, branches === 1 ? one : many),
  }));
  return words.replace(/\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g, (_, name, one = "", many = "") => places.get(name)?.(one, many) ?? "");
}
