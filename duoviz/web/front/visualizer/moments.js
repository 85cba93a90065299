// An iteration while it goes on: when each guess was made and when it was judged, as the trace's times tell.

import { aboutOf } from "./methods.js";
import { known } from "./words.js";

// For each drafted node, the number of the step that proposed it (see duoviz/decoding/drafting.py): step 0 the best
// first token; step 1 what follows it, and with θ the other first tokens; each later step one more token of all the
// sequences, or, in the paper's order, of one after another.
function stepsOfSequences(nodes, steps) {
  // Of the sequences together, those that have ended are no longer in a step.
  const together = steps.slice(2).some(({ tokens }) => tokens > 1);
  let [sequence, depth, next] = [-1, 0, 2];
  return nodes.map(({ parent, status }) => {
    if (status === "correction") return null;
    [sequence, depth] = parent < 0 ? [sequence + 1, 0] : [sequence, depth + 1];
    const step = depth + Math.min(1, sequence);
    if (depth === 0) return Math.min(step, steps.length - 1);
    return together || step < 2 ? step : next++;
  });
}

// {born, judged}, in seconds of the run, for each node of one of an iteration's lists.
export function timesOf(iteration, list, header) {
  const { target, draft, sync } = iteration;
  const nodes = iteration[list] ?? [];
  const { parallel } = aboutOf(header);
  const steps = list === "drafted" ? stepsOfSequences(nodes, draft) : [];
  return nodes.map((node, index) => {
    // What the draft guessed meanwhile is judged when both sides' results are in.
    const judged = list === "checked" ? target.end : sync;
    if (node.status === "correction") return { born: judged, judged };
    if (list === "drafted") return { born: draft[steps[index]]?.end ?? target.end, judged };
    if (parallel || known(node.was)) return { born: -Infinity, judged };
    if (known(node.step)) return { born: draft[node.step]?.end ?? target.end, judged };
    if (node.source !== "draft" || !draft.length) return { born: draft[0]?.start ?? target.start, judged };
    // In turn, each step of the draft proposes one more.
    return { born: draft[Math.min(index, draft.length - 1)].end, judged };
  });
}

export const lookAt = ({ born, judged }, status, clock) => (clock < born ? "unborn" : clock < judged ? (status === "window" ? status : "pending") : status);

// How much is known of the first tokens: 0 nothing, 1 how probable they are, 2 θ too.
export function candidatesKnown({ draft }, clock) {
  const ended = draft.filter(({ end }) => end <= clock).length;
  return ended >= Math.min(2, draft.length) ? 2 : Number(draft[0].end <= clock);
}
