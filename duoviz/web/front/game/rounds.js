// Rounds of the game "You be the draft": places in a recorded text, and which tokens the recorded draft had for them.
// An option is a token to which the draft gave a probability after exactly the text that the target wrote: in the
// `candidates` of an iteration, or in its trees, as a node with a `q` after nodes that are in the text. Where the
// target wrote what the draft did not have, no option is right; a place after which nothing was drafted is in no round.

import { aboutOf } from "../visualizer/methods.js";
import { known } from "../visualizer/words.js";
import { uniform } from "../learn/draws.js";

export const [ROUNDS, PLACES, OPTIONS] = [8, 3, 4];

// A round may write one token more than it has places, and the next one must not ask for what is there already.
const APART = PLACES + 1;

export function tokensOf({ iterations }) {
  return iterations.flatMap(({ committed, checked, drafted }) => committed.map(({ id, text }) => (
    { id, text, name: text || (checked.concat(drafted).find((node) => node.id === id)?.text ?? "") }
  )));
}

// The nodes whose parents are in the text, with their places there. start: the place of those without a parent.
function follow(nodes, start, tokens) {
  const followed = [];
  for (const node of nodes) {
    const parent = followed[node.parent];
    const at = node.parent === -1 ? start : parent?.isWritten ? parent.at + 1 : null;
    followed.push({ node, at, isWritten: at !== null && node.id === tokens[at]?.id });
  }
  return followed.filter(({ at }) => at !== null);
}

// Where a draft that works in parallel went on: after the pending tokens; null if the text has others there.
function endOfPending(checked, start, tokens) {
  const pending = checked.filter(({ status }) => status !== "correction");
  if (!pending.length) return start;
  const last = follow(checked, start, tokens).find(({ node }) => node === pending.at(-1));
  return last?.isWritten ? last.at + 1 : null;
}

function thoughtsOf({ checked, rest, drafted, candidates }, { start, tokens, isParallel }) {
  const end = endOfPending(checked, start, tokens);
  const nodes = follow(checked.concat(rest ?? []), start, tokens);
  const later = end === null ? [] : follow(drafted, end, tokens);
  const own = [...nodes, ...later].filter(({ node }) => known(node.q) && node.status !== "correction");
  const at = isParallel ? end : start;
  return [
    ...own.map(({ node, at: place }) => ({ at: place, id: node.id, text: node.text, p: node.q })),
    ...(at === null ? [] : candidates.map(({ id, text, p }) => ({ at, id, text, p }))),
  ];
}

// For each token of the text the draft's candidates there, the likeliest first: four at most, and none where the
// recording has none.
export function candidatesOf(trace, tokens = tokensOf(trace)) {
  const found = tokens.map(() => new Map());
  const { parallel: isParallel } = aboutOf(trace.header);
  let start = 0;
  for (const iteration of trace.iterations) {
    for (const { at, ...option } of thoughtsOf(iteration, { start, tokens, isParallel })) {
      found[at]?.set(option.id, option);
    }
    start += iteration.committed.length;
  }
  return found.map((options) => [...options.values()].sort((one, other) => other.p - one.p).slice(0, OPTIONS));
}

function shuffled(list, next) {
  const drawn = [...list];
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = Math.floor(next() * (last + 1));
    [drawn[last], drawn[other]] = [drawn[other], drawn[last]];
  }
  return drawn;
}

// Half a character, as some tokens are, tells nobody anything, and neither do two options that look the same.
function canBeAsked(options, token) {
  const texts = options.map(({ text }) => text);
  const isHalf = [token.name, ...texts].some((text) => text.includes("\ufffd"));
  return texts.length > 0 && new Set(texts).size === texts.length && !isHalf;
}

// The places at which rounds begin, in the text's order. Rounds with four options everywhere come before others.
function chooseStarts(tokens, candidates, next) {
  const around = (start) => candidates.slice(start, start + PLACES);
  const isFull = (start) => around(start).every((options) => options.length === OPTIONS);
  const starts = tokens.map((token, at) => at).slice(0, -PLACES)
    .filter((start) => around(start).every((options, by) => canBeAsked(options, tokens[start + by])));
  const order = shuffled(starts, next);
  const chosen = [];
  for (const start of [...order.filter(isFull), ...order.filter((each) => !isFull(each))]) {
    const isFree = chosen.every((other) => Math.abs(other - start) >= APART);
    if (isFree && chosen.length < ROUNDS) chosen.push(start);
  }
  return chosen.sort((one, other) => one - other);
}

// {tokens, rounds}: the text, and rounds in it, always the same for a seed. A round: `at`, its first place's number in
// the text; `places`, each with the draft's `options` in any order, its likeliest one, the `guess`, and the `target`'s
// token; and `next`, the token after them. The guess is what the draft proposes if it takes its likeliest token.
export function roundsOf(trace, seed) {
  const [tokens, next] = [tokensOf(trace), uniform(seed)];
  const candidates = candidatesOf(trace, tokens);
  const placeAt = (at) => ({ options: shuffled(candidates[at], next), guess: candidates[at][0], target: tokens[at] });
  const rounds = chooseStarts(tokens, candidates, next).map((at) => (
    { at, places: Array.from({ length: PLACES }, (_, by) => placeAt(at + by)), next: tokens[at + PLACES] }
  ));
  return { tokens, rounds };
}
