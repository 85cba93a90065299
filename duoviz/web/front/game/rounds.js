// Rounds of the game "Guess yourself": places in DuoTree's recorded text, and which tokens the draft had for them.
// An option is a token to which the draft gave a probability after exactly the text that the target wrote: in the
// `candidates` of an iteration, or in its tree, as a node with a `q` after nodes that are in the text. Where the target
// wrote what the draft did not have, no option is right.

import { known } from "../visualizer/words.js";
import { uniform } from "../learn/draws.js";

export const [ROUNDS, PLACES, OPTIONS] = [8, 3, 4];

// A round may write one token more than it has places, and the next one must not ask for what is there already.
const APART = PLACES + 1;

export function tokensOf({ iterations }) {
  return iterations.flatMap(({ committed, checked }) => committed.map(({ id, text }) => (
    { id, text, name: text || (checked.find((node) => node.id === id)?.text ?? "") }
  )));
}

// The draft's tokens of an iteration that begins at `start`, each with its place in the text: a node has one where all
// nodes before it are in the text.
function thoughtsOf({ checked, rest = [], candidates }, start, tokens) {
  const [nodes, places] = [checked.concat(rest), []];
  for (const { parent } of nodes) {
    const before = places[parent] ?? null;
    const isWritten = before !== null && nodes[parent].id === tokens[before]?.id;
    places.push(parent < 0 ? start : isWritten ? before + 1 : null);
  }
  const own = nodes.map(({ id, text, q }, index) => ({ at: places[index], id, text, p: q }));
  const first = candidates.map(({ id, text, p }) => ({ at: start, id, text, p }));
  return [...own.filter(({ at, p }) => at !== null && known(p)), ...first];
}

// For each token of the text the draft's candidates there, the likeliest first, four at most.
export function candidatesOf({ iterations }, tokens) {
  const found = tokens.map(() => new Map());
  let start = 0;
  for (const iteration of iterations) {
    for (const { at, ...option } of thoughtsOf(iteration, start, tokens)) found[at]?.set(option.id, option);
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
  return new Set(texts).size === OPTIONS && !isHalf;
}

// The places at which rounds begin, in the text's order.
function chooseStarts(tokens, candidates, next) {
  const canBegin = (start) => (
    candidates.slice(start, start + PLACES).every((options, by) => canBeAsked(options, tokens[start + by])));
  const chosen = [];
  for (const start of shuffled([...tokens.keys()].slice(0, -PLACES).filter(canBegin), next)) {
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
