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
  if (header.can_overlap) return " Checking started at once; the next draft step runs alongside.";
  const [milliseconds, gain] = [fixed(1000 * start.seconds, 1), fixed(Math.max(0, start.gain), 2)];
  return ` Another draft step (${milliseconds} ms) would gain only ${gain} tokens, so checking began.`;
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
