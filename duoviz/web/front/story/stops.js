// The story's stops, from two recorded runs of one prompt: what each says and what it shows. An iteration is found by what
// it is, so that other recordings tell the same story; a stop for which they hold nothing is left out.

import { aboutOf } from "../visualizer/methods.js";
import { count, known } from "../visualizer/words.js";

// What can be followed at once, and a text that a line or two hold.
const [MOST_GUESSES, MOST_NODES, MOST_SEQUENCES, LEAST_SURE, LONGEST_SHORT] = [8, 20, 6, 4, 4];
const [TAIL, ALONE_TOKENS, LEAST_BARS] = [60, 4, 3];
// How long a block of the large model alone should be on the screen, and how many times slower it may be shown for that.
const [BLOCK_SECONDS, SLOWER] = [1.7, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]];
// A time that is so much longer is hardly longer; beyond the second, checking is not cheap.
const [A_LITTLE, NOT_CHEAP] = [1.5, 4];
const ALIKE = 0.05;

const withStatus = (nodes, ...statuses) => nodes.filter(({ status }) => statuses.includes(status));
export const proposedOf = (nodes) => nodes.filter(({ status }) => status !== "correction");
const tokensOf = (iterations) => iterations.flatMap(({ committed }) => committed);
const median = (values) => [...values].sort((one, other) => one - other)[values.length >> 1];
const secondsOf = ({ target }) => target.end - target.start;

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

// The end of the text before an iteration: from its last line's beginning, or from a word within the last characters.
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

// How many times slower than measured the story shows what took a part of a second.
export function slowerOf({ iterations }) {
  const real = median(iterations.map(secondsOf));
  return SLOWER.reduce((best, each) => {
    const isNearer = Math.abs(Math.log((each * real) / BLOCK_SECONDS)) < Math.abs(Math.log((best * real) / BLOCK_SECONDS));
    return isNearer ? each : best;
  });
}

// 1: some iterations of the large model alone, of one token each.
function oneAtATime({ alone }) {
  if (!alone) return null;
  const isSingle = ({ committed }) => committed.length === 1 && isReadable(committed);
  const starts = alone.iterations.map((_, start) => alone.iterations.slice(start, start + ALONE_TOKENS));
  const some = firstOf(starts.slice(1), [(each) => each.length === ALONE_TOKENS && each.every(isSingle)]);
  return some && {
    words: "A language model writes one token: a word or a part of one. For the next, it reads all its weights again.",
    seen: "A bar fills, and a token is added to the text; four times.",
    trace: alone, from: some[0].index, to: some.at(-1).index, tail: tailBefore(alone.iterations, some[0].index),
    tokens: tokensOf(some),
  };
}

// The measured times of a forward of one token and of several: eight, where that was measured.
function costsOf({ calibration }) {
  const measured = calibration?.target ?? [];
  const one = measured.find(([rows]) => rows === 1);
  const many = measured.findLast(([rows]) => rows > 1 && rows <= 8);
  return one && many ? { one: one[1], many: many[1], rows: many[0] } : null;
}

export const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];

// 2: what a forward of several tokens takes more than that of one.
function checkingIsCheap({ told }) {
  const costs = costsOf(told.header);
  const tokens = tokensOf(told.iterations).slice(0, costs?.rows ?? 0);
  if (!costs || tokens.length < costs.rows || costs.many > NOT_CHEAP * costs.one) return null;
  const times = costs.many / costs.one;
  const longer = times < A_LITTLE ? "takes only a little longer than writing one" : `takes ${times.toFixed(1)} times as long as writing one`;
  return {
    words: `Checking ${NUMBERS[costs.rows]} tokens ${longer}: the time goes into reading the weights, not into the tokens.`,
    seen: `Two bars: one token takes ${inMs(costs.one)}, ${NUMBERS[costs.rows]} take ${inMs(costs.many)}.`,
    trace: told, ...costs, tokens,
  };
}

export const inMs = (seconds) => `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`;

const acceptedOf = ({ checked }) => withStatus(checked, "accepted");
const rejectedOf = ({ checked }) => withStatus(checked, "rejected");
const isHit = ({ verdict }) => verdict.outcome === "hit";

// A hit whose sequence waits for the check that comes next, and that check: one that can be followed from guess to text.
function guessAndCheck({ iterations }) {
  const pairs = iterations.slice(2).map((check, index) => ({ guess: iterations[index + 1], check }));
  const isPair = ({ guess, check }) => isHit(guess) && !proposedOf(guess.checked).length && acceptedOf(check).length > 0
    && withStatus(guess.drafted, "pending").length > 0 && check.committed.length >= acceptedOf(check).length;
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

const shownAt = ({ iterations }, iteration) => ({ iteration, tail: tailBefore(iterations, iteration.index) });

// 3: the draft's steps while the target is at work.
function guessMeanwhile({ told, pair }) {
  return pair && {
    words: "So a small model guesses ahead while the large one works.",
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

// Whether both runs wrote the same text up to this iteration's end, token for token.
function isSame({ told, alone }, { index }) {
  const [own, other] = [tokensOf(told.iterations.slice(0, index + 1)), tokensOf(alone?.iterations ?? [])];
  return own.length > 0 && own.every(({ text }, place) => text === other[place]?.text);
}

// What the large model alone wrote in these places of the text: those that are shown, and what this iteration added.
function writtenAlone({ told, alone }, { isCut, tokens }, { index, committed }) {
  const end = tokensOf(told.iterations.slice(0, index + 1)).length;
  return { isCut, tokens: tokensOf(alone.iterations).slice(end - committed.length - tokens.length, end) };
}

// 5: a check with a wrong guess, the same one if it has one.
function wrongGuesses(runs) {
  const { told, pair } = runs;
  const hasOwn = (each) => rejectedOf(each).length > 0 && withStatus(each.checked, "correction").length > 0
    && each.committed.length > acceptedOf(each).length;
  const check = pair && hasOwn(pair.check) ? pair.check : firstOf(told.iterations, [
    hasOwn, ({ checked }) => isReadable(checked), (iteration) => acceptedOf(iteration).length > 0,
    ({ checked }) => proposedOf(checked).length <= MOST_GUESSES,
  ]);
  if (!check) return null;
  const { tail } = shownAt(told, check);
  const alone = isSame(runs, check) ? writtenAlone(runs, tail, check) : null;
  return {
    words: `At the first wrong guess it writes its own token instead.${alone ? " So the text is always the large model's own." : ""}`,
    seen: "The wrong guess and those after it fall away; the large model's own token moves into the text.",
    trace: told, iteration: check, tail, accepted: acceptedOf(check).length, alone,
  };
}

// The first-token candidates that are drawn, and what of the sequences is.
const withBars = (trace, iteration) => ({ ...shownAt(trace, iteration), nodes: proposedOf(iteration.drafted),
  candidates: iteration.candidates.slice(0, Math.max(LEAST_BARS, iteration.sequences + 1)) });
const over = ({ candidates }) => candidates.filter((candidate) => candidate.over).length;
const lengthsOf = (nodes) => nodes.reduce((lengths, { parent }) => {
  if (parent < 0) lengths.push(1);
  else lengths[lengths.length - 1] += 1;
  return lengths;
}, []);
const hasLine = ({ theta, candidates, drafted }) => known(theta) && candidates.length > 0 && drafted.length > 0;

// 6: one sequence where the first token was sure, several where it was not.
function severalBeginnings({ told }) {
  const unsure = firstOf(told.iterations, [
    (each) => hasLine(each) && each.sequences > 1 && over(each) === each.sequences,
    ({ sequences, drafted }) => sequences <= MOST_SEQUENCES && drafted.length <= MOST_NODES,
    ({ drafted }) => isReadable(drafted), isHit, ({ sequences }) => sequences > 2,
    ({ drafted }) => Math.max(...lengthsOf(proposedOf(drafted))) <= LONGEST_SHORT, ({ verdict }) => verdict.sequence > 1,
  ]);
  const sure = firstOf(told.iterations, [
    (each) => hasLine(each) && each.sequences === 1 && over(each) === 1,
    ({ drafted }) => isReadable(drafted), ({ drafted }) => drafted.length <= LEAST_SURE + 2,
    ({ drafted }) => proposedOf(drafted).length >= LEAST_SURE, isHit, ({ candidates }) => candidates[0].p >= 0.5,
  ]);
  return unsure && {
    words: "When the small model is sure, it writes one long guess; when it is not, several short ones. The line θ decides.",
    seen: "Each first token whose bar passes the line θ begins a branch of the tree.",
    trace: told, parts: [sure, unsure].filter(Boolean).map((iteration) => withBars(told, iteration)),
  };
}

function sideOf(trace, name) {
  const tokens = trace.iterations.flatMap(({ committed, sync }) => committed.map((token) => ({ ...token, at: sync })));
  const wall = trace.iterations.at(-1).sync;
  return { name, tokens, wall, passes: trace.iterations.length, ends: trace.iterations.map(({ sync }) => sync), rate: tokens.length / wall };
}

// What the times come to, as the measured ones have it. A large model alone may have the processor that else is the draft's.
function raceWords(own, other, hasMore) {
  const [times, alone] = [own.rate / other.rate, hasMore ? ": alone, it has both models' cores" : ""];
  if (times > 1 + ALIKE) return `The same text, ${times.toFixed(times < 1.2 ? 2 : 1)} times as fast: ${own.passes} passes through the large model, not ${other.passes}.`;
  const fast = times < 1 - ALIKE ? "slower" : "no faster";
  return `The same text in ${own.passes} passes through the large model, not ${other.passes}. Here that is ${fast}${alone}.`;
}

// 7: both runs, from their start.
function whatItBrings({ told, alone }) {
  if (!alone || !isSame({ told, alone }, told.iterations.at(-1))) return null;
  const [own, other] = [sideOf(told, aboutOf(told.header).title), sideOf(alone, "The large model alone")];
  return {
    words: raceWords(own, other, alone.header.target.device !== told.header.target.device),
    seen: `${own.name}: ${own.rate.toFixed(1)} tokens a second. ${other.name}: ${other.rate.toFixed(1)}.`,
    sides: [own, other], wall: Math.max(own.wall, other.wall),
  };
}

const TOLD = [
  ["one", "One at a time", oneAtATime], ["cheap", "Checking is cheap", checkingIsCheap], ["guess", "Guess meanwhile", guessMeanwhile],
  ["right", "Right guesses are free", rightGuesses], ["wrong", "Wrong guesses cost little", wrongGuesses],
  ["several", "Unsure? Several beginnings", severalBeginnings], ["race", "What it brings", whatItBrings],
];

// told: DuoDecoding's recorded run; alone: vanilla's, null where there is none. A stop keeps its number where another is
// left out; `prompt`: of the runs; `slower`: so many times slower than measured the story is shown.
export function stopsOf(told, alone) {
  const isOne = alone && alone.header.prompt === told.header.prompt;
  const runs = { told, alone: isOne ? alone : null, pair: guessAndCheck(told) };
  const common = { prompt: told.header.prompt, slower: slowerOf(runs.alone ?? told) };
  return TOLD.map(([kind, title, make], index) => {
    const stop = make(runs);
    return stop && { number: index + 1, kind, title, ...common, ...stop };
  }).filter(Boolean);
}
