// The story's stops, from two recorded runs of one prompt: what each says and shows, found in the runs by what it is,
// so that other recordings tell the same story. A stop for which they hold nothing is left out.

import { aboutOf } from "../visualizer/methods.js";
import { count, countGuesses, duration, fateOf, fixed, known, quote } from "../visualizer/words.js";

// What can be followed at once, and a text that a line or two hold.
const [MOST_GUESSES, MOST_NODES, MOST_SEQUENCES, LEAST_SURE, LONGEST_SHORT, TAIL] = [8, 20, 6, 4, 4, 60];

const hasStatus = (nodes, wanted) => nodes.some(({ status }) => status === wanted);
export const proposedOf = (nodes) => nodes.filter(({ status }) => status !== "correction");
export const draftedOf = ({ drafted }) => (
  proposedOf(drafted).map((node) => ({ ...node, status: fateOf("drafted", node, drafted) })));
const acceptedOf = ({ checked }) => checked.filter(({ status }) => status === "accepted");
const isHit = ({ verdict }) => verdict.outcome === "hit";
const tokensOf = (iterations) => iterations.flatMap(({ committed }) => committed);

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

// A hit whose sequence waits for the check that comes next, and that check; such as can be followed from guess to text.
function guessAndCheck(iterations) {
  const pairs = iterations.slice(2).map((check, index) => ({ guess: iterations[index + 1], check }));
  return firstOf(pairs, [
    ({ guess, check }) => isHit(guess) && !proposedOf(guess.checked).length && hasStatus(guess.drafted, "pending")
      && acceptedOf(check).length > 0 && check.committed.length >= acceptedOf(check).length,
    ({ guess, check }) => isReadable([...guess.drafted, ...check.checked]),
    ({ check }) => hasStatus(check.checked, "rejected"),
    ({ check }) => acceptedOf(check).length > 1 && proposedOf(check.checked).length <= MOST_GUESSES,
    ({ guess }) => guess.sequences === 1,
  ]);
}

const isWrong = (check) => hasStatus(check.checked, "rejected") && hasStatus(check.checked, "correction")
  && check.committed.length > acceptedOf(check).length;

// An iteration of so many sequences as the line θ let begin.
const beganOver = (isMany) => ({ theta, candidates, drafted, sequences }) => known(theta) && drafted.length > 0
  && isMany(sequences) && candidates.filter(({ over }) => over).length === sequences;

// Several short sequences; best where the target took one of them.
const unsureGuess = (iterations) => firstOf(iterations, [
  beganOver((sequences) => sequences > 1),
  ({ sequences, drafted }) => sequences <= MOST_SEQUENCES && drafted.length <= MOST_NODES,
  ({ drafted }) => isReadable(drafted),
  isHit,
  ({ sequences, drafted }) => sequences > 2 && proposedOf(drafted).length <= LONGEST_SHORT * sequences,
]);

// A single sequence, with a first token that the draft was sure of.
const sureGuess = (iterations) => firstOf(iterations, [
  beganOver((sequences) => sequences === 1),
  ({ drafted }) => isReadable(drafted) && drafted.length <= LEAST_SURE + 2,
  ({ drafted }) => proposedOf(drafted).length >= LEAST_SURE,
  ({ candidates }) => candidates[0].p >= 0.5,
]);

const [ALONE_TOKENS, LEAST_BARS] = [4, 3];
// For how long a bar of the large model alone should fill; and how many times slower things may be shown.
const [BAR_SECONDS, SLOWER] = [1.7, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]];
export const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];

const median = (values) => [...values].sort((one, other) => one - other)[values.length >> 1];
const shownAt = ({ iterations }, iteration) => ({ iteration, tail: tailBefore(iterations, iteration.index) });

// How many times slower to show what took these seconds, for it to last about as long as wished.
export function slowerFor(seconds, wished) {
  const beside = (slower) => Math.abs(Math.log((slower * seconds) / wished));
  return SLOWER.reduce((best, each) => (beside(each) < beside(best) ? each : best));
}

export const slowerOf = ({ iterations }) => (
  slowerFor(median(iterations.map(({ target }) => target.end - target.start)), BAR_SECONDS));

// 1: some iterations of the large model alone, of one token each.
function oneAtATime({ alone }) {
  const isSingle = ({ committed }) => committed.length === 1 && isReadable(committed);
  const rows = alone?.iterations.map((_, start) => alone.iterations.slice(start, start + ALONE_TOKENS)) ?? [];
  const some = rows.slice(1).find((row) => row.length === ALONE_TOKENS && row.every(isSingle));
  return some && {
    words: "A language model writes one token (a word or part of one) at a time. Each time it reads all its learned numbers: one pass.",
    seen: "A bar fills, and a token is added to the text; four times.",
    trace: alone, from: some[0].index, to: some.at(-1).index, tail: tailBefore(alone.iterations, some[0].index),
    tokens: tokensOf(some),
  };
}

// 2: by how much a forward of several tokens takes longer than that of one.
function severalInOnePass({ told }) {
  const measured = told.header.calibration?.target ?? [];
  const [, one] = measured.find(([size]) => size === 1) ?? [];
  const [rows, many] = measured.findLast(([size]) => size > 1 && size <= 8) ?? [];
  const tokens = tokensOf(told.iterations).slice(0, rows);
  if (!one || !many || tokens.length < rows || many >= rows * one) return null;
  const [several, times] = [`${NUMBERS[rows]} tokens`, (many / one).toFixed(1)];
  return {
    words: `Here, checking ${several} takes about ${times} times as long as writing one: they share one reading of these numbers.`,
    seen: `Two bars, one for one token and one for ${several}, which is about ${times} times as long.`,
    trace: told, one, many, rows, tokens,
  };
}

// 3: the draft's steps while the target is at work.
function guessMeanwhile({ told, pair }) {
  return pair && {
    words: "So a small model guesses what comes next. Usually both take turns; in DuoDecoding the small one guesses while the large one works.",
    seen: "While the large model's bar fills, the small model adds one guess after another to the tree.",
    trace: told, ...shownAt(told, pair.guess),
  };
}

// 4: what the target accepted of these guesses, in one forward.
function rightGuesses({ told, pair }) {
  const accepted = pair && acceptedOf(pair.check).length;
  return pair && {
    words: "The large model checks all guesses in one pass. Those it agrees with become text.",
    seen: `${count(accepted, "token")} of the tree ${accepted === 1 ? "moves" : "move"} into the text.`,
    trace: told, ...shownAt(told, pair.check), accepted,
  };
}

function isSame({ told, alone }, { index }) {
  const [own, other] = [tokensOf(told.iterations.slice(0, index + 1)), tokensOf(alone?.iterations ?? [])];
  return own.length > 0 && own.every(({ text }, place) => text === other[place]?.text);
}

// What the large model alone wrote in these places of the text: those that are shown, and what this iteration added.
function writtenAlone({ told, alone }, { isCut, tokens }, { index, committed }) {
  const end = tokensOf(told.iterations.slice(0, index + 1)).length;
  return { isCut, tokens: tokensOf(alone.iterations).slice(end - committed.length - tokens.length, end) };
}

// What a wrong guess takes with it: itself, the guesses checked after it, and all that the draft made meanwhile.
function lostIn({ checked, drafted, draft }) {
  const after = checked.filter(({ status }) => status === "discarded").length;
  const meanwhile = proposedOf(drafted).length;
  const seconds = draft.reduce((sum, { start, end }) => sum + end - start, 0);
  const { text } = checked.find(({ status }) => status === "rejected");
  const more = [after && `${countGuesses(after)} after it`, meanwhile && `${countGuesses(meanwhile)} made meanwhile`];
  const cost = meanwhile ? `: ${duration(seconds)} of the small model's work` : "";
  return `Thrown away: ${[quote(text), ...more.filter(Boolean)].join(" and ")}${cost}.`;
}

// 5: a wrong guess in the same check, and what stands there instead.
function wrongGuesses(runs) {
  const check = runs.pair?.check;
  if (!check || !isWrong(check)) return null;
  const { tail } = shownAt(runs.told, check);
  const alone = isSame(runs, check) ? writtenAlone(runs, tail, check) : null;
  const always = alone ? ", so the text is always its own" : "";
  return {
    words: `So is every guess after it. The large model writes its own token instead${always}.`,
    seen: "The wrong guess and those after it are marked; the large model's own token moves into the text.",
    iteration: check, tail, accepted: acceptedOf(check).length, alone, lost: lostIn(check),
  };
}

// Of each sequence the first tokens, as many as can be read side by side.
const LEGIBLE = 4;

function beginningsOf(nodes) {
  const depths = [];
  for (const { parent } of nodes) depths.push(parent < 0 ? 1 : depths[parent] + 1);
  const kept = nodes.filter((_, at) => depths[at] <= LEGIBLE);
  return kept.map((node) => ({ ...node, parent: node.parent < 0 ? node.parent : kept.indexOf(nodes[node.parent]) }));
}

function withBars(trace, iteration) {
  const { theta, candidates, sequences } = iteration;
  const [{ p }] = candidates;
  return {
    ...shownAt(trace, iteration), nodes: beginningsOf(draftedOf(iteration)),
    candidates: candidates.slice(0, Math.max(LEAST_BARS, sequences + 1)),
    // θ is a product; its second factor is not recorded.
    sum: `θ (theta) = ${fixed(p, 4)} × ${fixed(theta / p, 4)}`,
  };
}

// 6: one sequence where the first token was sure, several where it was not.
function severalSequences({ told }) {
  const [sure, unsure] = [sureGuess(told.iterations), unsureGuess(told.iterations)];
  return unsure && {
    words: "When sure, the small model follows one sequence. When unsure, several: "
      + "one for each word likelier than the best two in a row (line θ).",
    seen: "Each first token whose bar passes the line θ starts a sequence of its own.",
    trace: told, parts: [sure, unsure].filter(Boolean).map((iteration) => withBars(told, iteration)),
  };
}

function sideOf({ iterations }, name) {
  const [tokens, wall] = [tokensOf(iterations), iterations.at(-1).sync];
  return { name, iterations, tokens, wall, passes: iterations.length, rate: tokens.length / wall };
}

// What the measured times come to. hasMore: whether the large model alone has the processors that else are the draft's.
function raceWords(own, other, hasMore) {
  const [ours, theirs] = [own, other].map(({ iterations: [first, ...rest], passes, wall }) => (
    { passes, each: (wall - first.sync) / rest.length }));
  const shared = ours.each > theirs.each && hasMore ? " on shared cores" : "";
  return `${ours.passes} passes instead of ${theirs.passes}, one every ${duration(ours.each)}${shared} instead of `
    + `${duration(theirs.each)}. In all, ${(own.rate / other.rate).toFixed(2)} times as fast.`;
}

// 7: both runs, from their start.
function whatItBrings({ told, alone, average }) {
  if (!alone || !isSame({ told, alone }, told.iterations.at(-1))) return null;
  const [own, other] = [sideOf(told, aboutOf(told.header).title), sideOf(alone, "The large model alone")];
  return {
    words: raceWords(own, other, alone.header.target.device !== told.header.target.device),
    seen: `${own.name}: ${own.rate.toFixed(1)} tokens a second. ${other.name}: ${other.rate.toFixed(1)}.`,
    sides: [own, other], wall: Math.max(own.wall, other.wall), average,
  };
}

const TOLD = [
  ["one", "One at a time", oneAtATime],
  ["cheap", "One pass checks several", severalInOnePass],
  ["guess", "Guess meanwhile", guessMeanwhile],
  ["right", "Right guesses are kept", rightGuesses],
  ["wrong", "A wrong guess is thrown away", wrongGuesses],
  ["several", "Unsure? Several sequences", severalSequences],
  ["race", "What it brings", whatItBrings],
];

// told: DuoDecoding's recorded run; alone: vanilla's, null where there is none. A stop keeps its number where another
// one is left out; `prompt`: of the runs; `average`: what was measured over many prompts;
// `slower`: how many times slower than measured the story is shown.
export function stopsOf(told, alone, average = null) {
  const isOne = alone?.header.prompt === told.header.prompt;
  const runs = { told, alone: isOne ? alone : null, pair: guessAndCheck(told.iterations), average };
  const common = { prompt: told.header.prompt, slower: slowerOf(runs.alone ?? told) };
  return TOLD.map(([kind, title, make], index) => {
    const stop = make(runs);
    return stop && { number: index + 1, kind, title, ...common, ...stop };
  }).filter(Boolean);
}
