// What goes on in an iteration at a moment of it, in one sentence; how it ended is sentence.js's.

import { aboutOf } from "./methods.js";
import { count, countGuesses } from "./words.js";
import { proposalsOf } from "./note.js";
import { lookAt, timesOf } from "./moments.js";

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
