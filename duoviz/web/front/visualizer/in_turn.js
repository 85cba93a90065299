// The sentences of the methods that propose first and verify then, and of the target alone.

import { count, fixed, known } from "./words.js";
import { aboutOf } from "./methods.js";
import { ownText, proposalsOf, verifiedSentence } from "./wording.js";

const oneToken = (iteration) => (iteration.committed.length ? `one token: ${ownText(iteration)}` : "no new token");

function aloneClause(iteration, { header, before, end, last }) {
  const full = header.settings.max_new_tokens - before === 1 || (last && end?.stopped === "context");
  const why = full ? "There was room for one token only" : aboutOf(header).nothing;
  return `${why}, so the target wrote ${oneToken(iteration)}`;
}

// Why the target began to check when it did.
function startClause({ start }, header) {
  if (!known(start?.gain)) return "";
  const step = `one more draft step promised ${fixed(Math.max(0, start.gain), 2)} tokens for ${fixed(1000 * start.seconds, 1)} ms of drafting and longer checking`;
  if (header.can_overlap) return ` The check waited no longer: ${step}, and is made meanwhile.`;
  return ` The check began then: ${step}, which does not pay at ${fixed(start.rate, 0)} tokens a second.`;
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
  return `${read ? `${read}. ` : ""}${told}.${looked}${startClause(iteration, header)}`;
}
