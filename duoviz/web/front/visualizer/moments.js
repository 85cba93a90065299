// An iteration while it goes on: when each guess was made and when it was judged, as the trace's times tell.

import { aboutOf } from "./methods.js";
import { known } from "./words.js";

function depthOf(nodes, index) {
  let depth = 0;
  for (let at = nodes[index].parent; at >= 0; at = nodes[at].parent) depth++;
  return depth;
}

// For each drafted node, the number of the step that proposed it (see duoviz/decoding/drafting.py): step 0 the best
// first token; step 1 what follows it, and with θ the other first tokens; each later step one more token of all the
// sequences, or, in the paper's order, of one after another.
function stepsOfSequences(nodes, steps) {
  const sequences = [];
  nodes.forEach((node, index) => {
    if (node.status === "correction") return;
    if (node.parent < 0) sequences.push([index]);
    else sequences.find((each) => each.at(-1) === node.parent)?.push(index);
  });
  const made = [];
  sequences.forEach(([root, second], order) => {
    made[root] = Math.min(order ? 1 : 0, steps.length - 1);
    if (!order && second !== undefined) made[second] = 1;
  });
  // Of the sequences together, those that have ended are no longer in a step.
  const together = steps.slice(2).some(({ tokens }) => tokens > 1);
  const rest = sequences.map((sequence, order) => sequence.slice(order ? 1 : 2));
  for (let step = 2; step < steps.length; step++) {
    for (const sequence of together ? rest : [rest.find((each) => each.length) ?? []]) {
      const index = sequence.shift();
      if (index !== undefined) made[index] = step;
    }
  }
  return made;
}

// Of guesses that are checked in the same iteration, the draft's first ones come with its first step, and one each step
// after that; where there were more nodes than the trace tells steps of, the rest stands there when drafting has ended.
function stepOfProposal(nodes, index, steps) {
  const depth = depthOf(nodes, index);
  const proposed = nodes.filter(({ status }) => status !== "correction").length;
  return depth === 0 || proposed <= steps.length ? Math.min(depth, steps.length - 1) : steps.length - 1;
}

// {born, judged}, in seconds of the run, for each node of one of an iteration's lists.
export function timesOf(iteration, list, header) {
  const { target, draft, sync } = iteration;
  const nodes = iteration[list] ?? [];
  const { parallel } = aboutOf(header);
  const above = list === "rest" ? iteration.checked : [];
  const tree = above.concat(nodes);
  const steps = list === "drafted" ? stepsOfSequences(nodes, draft) : [];
  return nodes.map((node, index) => {
    // What the draft guessed meanwhile is judged when both sides' results are in.
    const judged = list === "checked" ? target.end : sync;
    if (node.status === "correction") return { born: judged, judged };
    if (list === "drafted") return { born: draft[steps[index]]?.end ?? target.end, judged };
    if (parallel || known(node.was)) return { born: -Infinity, judged };
    if (known(node.step)) return { born: draft[node.step]?.end ?? target.end, judged };
    if (node.source !== "draft" || !draft.length) return { born: draft[0]?.start ?? target.start, judged };
    return { born: draft[stepOfProposal(tree, above.length + index, draft)].end, judged };
  });
}

export const lookAt = ({ born, judged }, status, clock) => (clock < born ? "unborn" : clock < judged ? (status === "window" ? status : "pending") : status);

// How much is known of the first tokens: 0 nothing, 1 how probable they are, 2 θ too.
export function candidatesKnown({ draft }, clock) {
  const ended = draft.filter(({ end }) => end <= clock).length;
  return ended >= Math.min(2, draft.length) ? 2 : Number(draft[0].end <= clock);
}
