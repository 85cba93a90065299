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
  const window = iteration.checked.filter((node) => node.status === "window").length;
  const looked = window ? ` In the same forward, a window of ${count(window, "token")} looked for new guesses.` : "";
  const proposed = proposalsOf(iteration).length > 0;
  if (!proposers.length || (read && !proposed)) return `${read ? `${read} and` : "The target"} computed ${oneToken(iteration)}.${looked}`;
  const told = proposed ? verifiedSentence(verified, iteration) : aloneClause(iteration, about);
  return `${read ? `${read}. ` : ""}${told}.${looked}`;
}
