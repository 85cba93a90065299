// One iteration of a method that works in parallel told in one sentence, and of any other through in_turn.js.

import { count, known, quote } from "./words.js";
import { aboutOf } from "./methods.js";
import { inTurnSentence } from "./in_turn.js";
import { listChances } from "./wording.js";

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

const roots = (iteration) => iteration.drafted.filter((node) => node.parent === -1 && node.status !== "correction");

function prefillSentence(iteration) {
  const readers = iteration.drafted.length ? "Both models" : "The target";
  const read = `${readers} read the prompt (${count(iteration.target.rows, "token")})`;
  // A special token has no text of its own among the committed ones; its node names it.
  const first = iteration.drafted.find((node) => node.status === "accepted" || node.status === "correction") ?? iteration.committed[0];
  if (!first) return `${read}; the first new token comes later.`;
  const guessed = iteration.verdict.outcome === "hit" ? ", as the draft had guessed" : "";
  return `${read}; the target's first token is ${quote(first.text)}${guessed}.`;
}

function draftingClause(iteration, header) {
  const starts = roots(iteration);
  if (!starts.length) return "";
  const chances = listChances(starts);
  const list = chances && ` (${chances})`;
  const began = `${count(starts.length, "sequence")} started`;
  if (!known(iteration.theta) || (header?.settings?.sequences ?? "dynamic") !== "dynamic") return `${began}${list}`;
  const over = iteration.candidates.filter((candidate) => candidate.over).length;
  if (over > starts.length) return `More first tokens were over the threshold${list} than may begin a sequence: ${began}`;
  if (starts.length > 1) return `The draft was unsure${list}, so ${began}`;
  if (!over) return `No first token was over the threshold${list}, and yet ${began}, with the best one`;
  return starts[0].q >= 0.5 ? `The draft was fairly sure${list}, so ${began}`
    : `Only one first token was over the threshold${list}, so ${began}`;
}

function checkedClause(iteration) {
  const tested = iteration.checked.filter((node) => node.status !== "correction");
  const accepted = tested.filter((node) => node.status === "accepted").length;
  if (!tested.length) return "";
  if (accepted === tested.length) {
    return accepted === 1 ? "accepted the pending token" : accepted === 2 ? "accepted both pending tokens" : `accepted all ${accepted} pending tokens`;
  }
  if (!accepted) return "";
  return `accepted ${accepted} of ${count(tested.length, "pending token")}`;
}

function rejectionSentence(iteration) {
  const nodes = iteration.checked.concat(iteration.drafted);
  const rejected = nodes.find((node) => node.status === "rejected");
  const own = nodes.find((node) => node.status === "correction") ?? iteration.committed.at(-1);
  const accepted = checkedClause(iteration);
  const refused = rejected ? `rejected ${quote(rejected.text)}` : "rejected the next";
  const placed = own ? ` and put its correction ${quote(own.text)} there` : "";
  const rest = nodes.some((node) => node.status === "discarded") ? "; all that was drafted after it is discarded" : "";
  return `The target ${accepted ? `${accepted}, ` : ""}${refused}${placed}${rest}.`;
}

function verdictClause(iteration) {
  const accepted = checkedClause(iteration);
  const starts = roots(iteration).length;
  const own = iteration.drafted.find((node) => node.status === "correction") ?? iteration.committed.at(-1);
  const also = accepted ? `${accepted} and ` : "";
  if (iteration.verdict.outcome === "hit") {
    if (starts > 1) return `${also}chose the ${ORDINALS[(iteration.verdict.sequence ?? 1) - 1] ?? `${iteration.verdict.sequence}th`}`;
    return starts ? `${also}chose its first token` : accepted || "agreed";
  }
  if (!own) return accepted || "tested it";
  return starts ? `${also}wrote ${quote(own.text)}, which none begins with` : `${also}added ${quote(own.text)}`;
}

function untestedSentence(iteration) {
  const own = [...iteration.checked, ...iteration.drafted].find((node) => node.status === "correction") ?? iteration.committed[0];
  if (iteration.mode === "alone") return `Guesses are rarely right here, so none is checked: the target wrote ${own ? quote(own.text) : "no new token"} alone.`;
  return `Nothing was drafted that could be tested, so the target computed ${own ? `one token: ${quote(own.text)}` : "no new token"}.`;
}

// An answer may end before the last of the tokens that the target chose in its last iteration.
function endClause({ checked, drafted, committed }) {
  const chosen = [...checked, ...drafted].filter(({ status }) => status === "accepted" || status === "correction").length;
  const beyond = committed.length ? chosen - committed.length : 0;
  return beyond > 0 ? ` The last ${beyond === 1 ? "one comes" : `${beyond} come`} after the end of the answer and ${beyond === 1 ? "is" : "are"} dropped.` : "";
}

// about: the trace's `header` and `end`, how many tokens were written `before`, and whether it is the `last` iteration.
export const sentence = (iteration, about) => sentenceOf(iteration, about) + endClause(iteration);

function sentenceOf(iteration, about) {
  if (about.header && !aboutOf(about.header).parallel) return inTurnSentence(iteration, about);
  if (iteration.mode === "prefill") return prefillSentence(iteration);
  if (iteration.verdict.outcome === "none") return untestedSentence(iteration);
  if (iteration.verdict.outcome === "rejection") return rejectionSentence(iteration);
  const drafting = draftingClause(iteration, about.header);
  return `${drafting ? `${drafting}; the` : "The"} target ${verdictClause(iteration)}.`;
}
