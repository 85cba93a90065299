// Scores of the game "Guess yourself": what the target makes of guesses, how fast that is, and in words.

import { timeAt } from "../learn/costs.js";
import { clip, count, duration, fixed, percent, quote, tokenLabel, visible } from "../visualizer/words.js";

// One forward pass of the target. picks: a token's id for one place after another; null is "something else", which ends
// the guesses, for nothing can be checked after a token that nobody named. tested: guesses up to the first wrong one;
// stop: whether "something else" was right, null where it was not said or not reached.
export function judge({ places }, picks) {
  const end = picks.indexOf(null);
  const guesses = end < 0 ? picks : picks.slice(0, end);
  const wrong = guesses.findIndex((id, place) => id !== places[place].target.id);
  const accepted = wrong < 0 ? guesses.length : wrong;
  const isAmong = ({ options, target }) => options.some(({ id }) => id === target.id);
  return {
    guesses: guesses.length, accepted, tested: wrong < 0 ? accepted : accepted + 1,
    tokens: accepted + 1, stop: end < 0 || wrong >= 0 ? null : !isAmong(places[end]),
  };
}

export const draftPicks = ({ places }) => places.map(({ guess }) => guess.id);

const sumOf = (verdicts, name) => verdicts.reduce((sum, verdict) => sum + verdict[name], 0);

// All rounds together. "Something else" is no guess: it is neither accepted nor rejected, and is counted by itself.
export function summary(verdicts) {
  const [tested, accepted, tokens] = ["tested", "accepted", "tokens"].map((name) => sumOf(verdicts, name));
  const stops = verdicts.map(({ stop }) => stop).filter((stop) => stop !== null);
  return {
    tested, accepted, perForward: tokens / verdicts.length,
    stops: stops.length, rightStops: stops.filter(Boolean).length,
  };
}

// The costs that the machine had before the recorded run, in seconds; step: of the first draft step after a pass.
export const costsOf = ({ calibration: { target, draft } }) => (
  { forward: (rows) => timeAt(target, rows), step: draft[0][1] });

// How many times as fast as the target alone, which writes one token per forward pass. A forward pass reads the last
// token of the text and all guesses.
export function speedUp(verdicts, { forward }, secondsPerGuess) {
  const alone = sumOf(verdicts, "tokens") * forward(1);
  const together = verdicts.reduce((sum, { guesses }) => sum + guesses * secondsPerGuess + forward(1 + guesses), 0);
  return alone / together;
}

const LONGEST_TOKEN = 28;

export function tokenWords(text) {
  const short = tokenLabel(text);
  return short.endsWith("…") ? clip(visible(text).replaceAll(" ", "␣"), LONGEST_TOKEN) : short;
}

const ALL = ["", "your guess", "both guesses", "all 3 guesses"];

function acceptedWords({ guesses, accepted }) {
  if (!guesses) return "You made no guess. The large model wrote";
  if (accepted === guesses) return `The large model accepted ${ALL[guesses]} and added`;
  if (guesses === 1) return "The large model rejected your guess and wrote";
  return `The large model accepted ${accepted || "none"} of ${guesses} guesses and wrote`;
}

export function waitWords(guesses, isStopped) {
  if (!isStopped) return `One pass checks your ${guesses} guesses at once.`;
  if (!guesses) return `"Something else" is no guess: the large model writes one token by itself.`;
  const before = guesses === 1 ? "the one" : `the ${guesses}`;
  return `"Something else" ends your guesses. One pass checks ${before} before it.`;
}

function stopWords({ stop }, options) {
  if (stop === null) return "";
  return stop ? ` "Something else" was right: none of the ${options} options.` : " It was among the options.";
}

export function verdictWords(verdict, { places, next }) {
  const place = places[verdict.accepted];
  const own = quote((place?.target ?? next).name);
  const gained = `${count(verdict.tokens, "token")} in one pass`;
  return `${acceptedWords(verdict)} ${own}: ${gained}.${stopWords(verdict, place?.options.length)}`;
}

// Its guesses are not named: they may be right beyond what the visitor has seen.
export const draftWords = ({ guesses, accepted }) => `Of the small model's own ${guesses} guesses, the large model accepts ${accepted || "none"}.`;

const times = (ratio) => (ratio < 10 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en"));

export const shareWords = ({ accepted, tested }) => (
  tested ? `${percent(accepted / tested)} (${accepted}\u00a0of\u00a0${tested})` : "no guess"
);
export const perForwardWords = ({ perForward }) => fixed(perForward, 2);

export const speedWords = (verdicts, costs) => `${times(speedUp(verdicts, costs, costs.step))}×`;

export function stopsWords({ stops, rightStops }) {
  if (!stops) return "";
  return `You said "something else" ${count(stops, "time")} and were right ${count(rightStops, "time")}. `
    + "It counts neither as accepted nor as rejected: the large model writes that token itself.";
}

// costs: as in score.js; seconds: what one of the visitor's guesses took, on average.
export function paceWords(verdicts, drafted, costs, seconds) {
  const [mine, draft] = [verdicts, drafted].map((each) => times(speedUp(each, costs, costs.step)));
  const real = speedUp(verdicts, costs, seconds);
  const pace = real < 1 ? `the text would take ${times(1 / real)} times as long as with the large model alone`
    : `the text would come ${times(real)} times as fast as with the large model alone`;
  return [
    `You would make the large model ${mine} times as fast, if you guessed in ${duration(costs.step)} as the small model `
    + `does. The small model makes it ${draft} times as fast.`,
    `You took ${duration(seconds)} per guess. At that pace ${pace}.`,
  ];
}

export function costsWords({ forward, step }, { target, draft }) {
  const areApart = draft && draft.device !== target.device;
  const where = areApart ? `large model on ${target.device}, small model on ${draft.device}` : target.device;
  return `Measured before the recorded run (${where}): a pass of the large model takes ${duration(forward(1))} with 1 `
    + `token and ${duration(forward(4))} with 4; a guess of the small model ${duration(step)}, counted for each (the first after a pass; further ones take less).`;
}
