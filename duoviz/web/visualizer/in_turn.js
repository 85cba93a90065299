// The sentences of the methods that propose first and verify then, and of the target alone.

import { count } from "./words.js";
import { aboutOf } from "./methods.js";
import { ownText, proposalsOf, verifiedSentence } from "./wording.js";

const oneToken = (iteration) => (iteration.committed.length ? `one token: ${ownText(iteration)}` : "no new token");

function aloneClause(iteration, { header, before, end, last }) {
  const full = header.settings.max_new_tokens - before === 1 || (last && end?.stopped === "context");
  const why = full ? "There was room for one token only" : aboutOf(header).nothing;
  return `${why}, so the target wrote ${oneToken(iteration)}`;
}

export function inTurnSentence(iteration, about) {
  const { header } = about;
  const { proposers, verified } = aboutOf(header);
  const read = iteration.index === 0 ? `The target read the prompt (${count(header.prompt_tokens, "token")})` : "";
  if (!proposers.length) return `${read ? `${read} and` : "The target"} computed ${oneToken(iteration)}.`;
  const told = proposalsOf(iteration).length ? verifiedSentence(verified, iteration) : aloneClause(iteration, about);
  const window = iteration.checked.filter((node) => node.status === "window").length;
  const looked = window ? ` In the same forward, a window of ${count(window, "token")} looked for new guesses.` : "";
  return `${read ? `${read}. ` : ""}${told}.${looked}`;
}
