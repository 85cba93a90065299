// What goes on in an iteration, and what happened in it, in at most 20 words; note.js has the details.

import { aboutOf } from "./methods.js";
import { lookAt, timesOf } from "./moments.js";
import { branchesOf, chosenBy, proposalsOf, startsOf } from "./note.js";
import { count, countGuesses, endsAnswer, quote } from "./words.js";

const alone = (iteration) => (iteration.index === 0 ? "reads the prompt" : "computes the next token");

function inParallel(iteration, header, clock) {
  const { target, draft, checked, drafted } = iteration;
  const pending = checked.filter(({ status }) => status !== "correction").length;
  const does = pending ? `checks ${count(pending, "pending token")}` : alone(iteration);
  const times = timesOf(iteration, "drafted", header);
  const guesses = drafted.filter(({ status }, index) => status !== "correction" && lookAt(times[index], status, clock) !== "unborn").length;
  const guessed = guesses ? `: ${countGuesses(guesses)} so far` : "";
  if (clock >= target.end) return `The target is ready and waits for the draft${guessed}.`;
  if (!draft.length) return `The target ${does}.`;
  if (clock >= draft.at(-1).end) return `The target still ${does}; the draft has made ${countGuesses(guesses)} and waits.`;
  return `The target ${does} while the draft guesses ahead${guessed}.`;
}

function inTurn(iteration, header, clock) {
  const proposals = proposalsOf(iteration).length;
  if (clock < iteration.target.start && iteration.draft.length) return "The draft guesses, and the target waits.";
  const alongside = header.can_overlap ? " while the draft continues" : "";
  return `The target ${proposals ? `checks ${countGuesses(proposals)} in one forward pass` : alone(iteration)}${alongside}.`;
}

export function meanwhile(iteration, header, clock) {
  return aboutOf(header).parallel ? inParallel(iteration, header, clock) : inTurn(iteration, header, clock);
}

const LONGEST_TEXT = 24;

// How many guesses in a row were checked, and how many alternatives there were to them.
function checkedIn(iteration) {
  const proposals = proposalsOf(iteration);
  const starts = ["hit", "miss"].includes(iteration.verdict.outcome) ? startsOf(iteration) : [];
  const [ways, noun] = proposals.length ? [branchesOf(proposals), "branches"] : [starts.length, "sequences"];
  return { total: proposals.length + Math.min(1, starts.length), ways, noun };
}

function outcomeWords(accepted, { total, ways, noun }, rejected) {
  const right = accepted.length;
  if (ways > 1 && right < 2) return `${right ? "✓ One" : "✗ None"} of ${ways} ${noun} began right`;
  if (!right) return total > 1 ? `✗ None of ${total} guesses right` : `✗ The guess ${quote(rejected?.text ?? "")} was wrong`;
  if (ways > 1) return `✓ ${countGuesses(right)} right, in one of ${ways} ${noun}`;
  if (right < total) return `✓ ${right} of ${total} guesses right`;
  return `✓ ${["", "The guess was", "Both guesses"][right] ?? `All ${right} guesses`} right`;
}

export function sentence(iteration) {
  const chosen = chosenBy(iteration);
  const own = chosen.slice(0, iteration.committed.length).find(({ status }) => status === "correction");
  const accepted = chosen.filter(({ status }) => status === "accepted");
  const rejected = [...iteration.checked, ...iteration.drafted].filter(({ status }) => status === "rejected");
  const checked = checkedIn(iteration);
  const wrote = (verb) => (own && endsAnswer(own.text) ? "ended the answer" : `${verb} ${own ? quote(own.text) : "nothing new"}`);
  if (!checked.total) return `The target ${iteration.index ? "" : "read the prompt and "}${wrote("wrote")}.`;
  const text = accepted.map((node) => node.text).filter((part, at) => !at || !endsAnswer(part)).join("");
  const outcome = outcomeWords(accepted, checked, rejected[0]) + (accepted.length ? `: ${quote(text, LONGEST_TEXT)}` : "");
  if (!own) return `${outcome}.`;
  if (!rejected.length) return `${outcome}. The target ${wrote("added")}.`;
  const isNamed = rejected.length === 1 && checked.ways === 1 && checked.total > 1;
  const instead = isNamed ? ` instead of ${quote(rejected[0].text)}` : accepted.length ? " instead" : "";
  return `${outcome}. The target ${wrote("wrote")}${instead}.`;
}
