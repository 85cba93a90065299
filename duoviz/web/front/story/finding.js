// What the story is told with, found in recorded runs by what it is, so that other recordings tell the same story.

import { known } from "../visualizer/words.js";

// What can be followed at once, and a text that a line or two hold.
const [MOST_GUESSES, MOST_NODES, MOST_SEQUENCES, LEAST_SURE, LONGEST_SHORT, TAIL] = [8, 20, 6, 4, 4, 60];

const withStatus = (nodes, ...statuses) => nodes.filter(({ status }) => statuses.includes(status));
export const proposedOf = (nodes) => nodes.filter(({ status }) => status !== "correction");
export const acceptedOf = ({ checked }) => withStatus(checked, "accepted");
const rejectedOf = ({ checked }) => withStatus(checked, "rejected");
const isHit = ({ verdict }) => verdict.outcome === "hit";
export const tokensOf = (iterations) => iterations.flatMap(({ committed }) => committed);

// Tokens that anybody can read: letters and punctuation, and no sign that only a model uses.
const isReadable = (nodes) => nodes.every(({ text }) => /^[ \p{L}\p{M}\p{N}\p{P}]+$/u.test(text));

// The first of a list that is as wished. Where none is, the last wish is given up, then the one before; not the first.
export function firstOf(list, wishes) {
  for (let kept = wishes.length; kept > 0; kept--) {
    const found = list.find((each) => wishes.slice(0, kept).every((wish) => wish(each)));
    if (found !== undefined) return found;
  }
  return null;
}

// The text's end before an iteration: from its last line's beginning, or from a word within the last characters.
export function tailBefore(iterations, position) {
  const tokens = tokensOf(iterations.slice(0, position));
  let [from, length] = [tokens.length, 0];
  while (from > 0 && !tokens[from - 1].text.includes("\n") && length + tokens[from - 1].text.length <= TAIL) {
    from -= 1;
    length += tokens[from].text.length;
  }
  const isCut = from > 0 && !tokens[from - 1].text.includes("\n");
  while (isCut && from < tokens.length - 1 && !tokens[from].text.startsWith(" ")) from += 1;
  return { isCut, tokens: tokens.slice(from) };
}

// So many iterations in a row, of one token each, after the prompt's.
export function singleTokens(iterations, number) {
  const isSingle = ({ committed }) => committed.length === 1 && isReadable(committed);
  const rows = iterations.map((_, start) => iterations.slice(start, start + number));
  return firstOf(rows.slice(1), [(row) => row.length === number && row.every(isSingle)]);
}

// A hit whose sequence waits for the check that comes next, and that check; such as can be followed from guess to text.
export function guessAndCheck(iterations) {
  const pairs = iterations.slice(2).map((check, index) => ({ guess: iterations[index + 1], check }));
  const isPair = ({ guess, check }) => isHit(guess) && !proposedOf(guess.checked).length
    && withStatus(guess.drafted, "pending").length > 0
    && acceptedOf(check).length > 0 && check.committed.length >= acceptedOf(check).length;
  return firstOf(pairs, [
    isPair,
    ({ guess, check }) => isReadable([...guess.drafted, ...check.checked]),
    ({ check }) => rejectedOf(check).length > 0,
    ({ check }) => acceptedOf(check).length > 1,
    ({ guess }) => guess.sequences === 1,
    ({ check }) => proposedOf(check.checked).length <= MOST_GUESSES,
    ({ check }) => acceptedOf(check).length > 2,
    ({ check }) => withStatus(check.checked, "discarded").length > 0,
  ]);
}

// A check with a wrong guess: this one, if it has one.
export function wrongCheck(iterations, check) {
  const isWrong = (each) => rejectedOf(each).length > 0 && withStatus(each.checked, "correction").length > 0
    && each.committed.length > acceptedOf(each).length;
  if (check && isWrong(check)) return check;
  return firstOf(iterations, [
    isWrong, ({ checked }) => isReadable(checked), (each) => acceptedOf(each).length > 0,
    ({ checked }) => proposedOf(checked).length <= MOST_GUESSES,
  ]);
}

const lengthsOf = (nodes) => nodes.reduce((lengths, { parent }) => {
  if (parent < 0) lengths.push(1);
  else lengths[lengths.length - 1] += 1;
  return lengths;
}, []);
const overLine = ({ candidates }) => candidates.filter(({ over }) => over).length;
const hasLine = ({ theta, candidates, drafted }) => known(theta) && candidates.length > 0 && drafted.length > 0;

// An iteration of several short sequences, each of which the line θ let begin; best where the target took a later one.
export function unsureGuess(iterations) {
  return firstOf(iterations, [
    (each) => hasLine(each) && each.sequences > 1 && overLine(each) === each.sequences,
    ({ sequences, drafted }) => sequences <= MOST_SEQUENCES && drafted.length <= MOST_NODES,
    ({ drafted }) => isReadable(drafted),
    isHit,
    ({ sequences }) => sequences > 2,
    ({ drafted }) => Math.max(...lengthsOf(proposedOf(drafted))) <= LONGEST_SHORT,
    ({ verdict }) => verdict.sequence > 1,
  ]);
}

// One of a single sequence, with a first token that the draft was sure of.
export function sureGuess(iterations) {
  return firstOf(iterations, [
    (each) => hasLine(each) && each.sequences === 1 && overLine(each) === 1,
    ({ drafted }) => isReadable(drafted),
    ({ drafted }) => drafted.length <= LEAST_SURE + 2,
    ({ drafted }) => proposedOf(drafted).length >= LEAST_SURE,
    isHit,
    ({ candidates }) => candidates[0].p >= 0.5,
  ]);
}
