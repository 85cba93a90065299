// The game's sentences: what became of a round's guesses, and what all rounds give.

import { clip, count, duration, fixed, percent, quote, tokenLabel, visible } from "../visualizer/words.js";
import { speedUp } from "./score.js";

const LONGEST_TOKEN = 28;

// A token on a button. Longer ones than a tree has room for can be read.
export function tokenWords(text) {
  const short = tokenLabel(text);
  return short.endsWith("…") ? clip(visible(text).replaceAll(" ", "␣"), LONGEST_TOKEN) : short;
}

const ALL = ["", "your guess", "both guesses", "all 3 guesses"];

function acceptedWords({ guesses, accepted }) {
  if (!guesses) return "You made no guess. The target wrote";
  if (accepted === guesses) return `The target accepted ${ALL[guesses]} and added`;
  if (guesses === 1) return "The target rejected your guess and wrote";
  return `The target accepted ${accepted || "none"} of ${guesses} guesses and wrote`;
}

// Before the check. guesses: how many; isStopped: whether "something else" came after them.
export function waitWords(guesses, isStopped) {
  if (!isStopped) return `One forward pass checks your ${guesses} guesses at once.`;
  if (!guesses) return `"Something else" is no guess: the target writes one token by itself.`;
  const before = guesses === 1 ? "the one" : `the ${guesses}`;
  return `"Something else" ends your guesses. One forward pass checks ${before} before it.`;
}

function stopWords({ stop }, options) {
  if (stop === null) return "";
  return stop ? ` "Something else" was right: none of the ${options} options.` : " It was among the options.";
}

export function verdictWords(verdict, { places, next }) {
  const place = places[verdict.accepted];
  const own = quote((place?.target ?? next).name);
  const gained = `${count(verdict.tokens, "token")} in one forward pass`;
  return `${acceptedWords(verdict)} ${own}: ${gained}.${stopWords(verdict, place?.options.length)}`;
}

export function draftWords({ accepted }, { places }) {
  const guesses = places.map(({ guess }) => quote(guess.text)).join(", ");
  return `The draft's likeliest tokens: ${guesses}. The target accepts ${accepted || "none"} of them.`;
}

const times = (ratio) => (ratio < 10 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en"));

// The two numbers stay on one line.
export const shareWords = ({ acceptance, accepted, tested }) => (
  tested ? `${percent(acceptance)} (${accepted}\u00a0of\u00a0${tested})` : "no guess"
);
export const perForwardWords = ({ perForward }) => fixed(perForward, 2);

// At the draft's pace.
export const speedWords = (verdicts, costs) => `${times(speedUp(verdicts, costs, costs.step))}×`;

export function stopsWords({ stops, rightStops }) {
  if (!stops) return "";
  return `You said "something else" ${count(stops, "time")} and were right ${count(rightStops, "time")}. `
    + "It counts neither as accepted nor as rejected: the target writes that token itself.";
}

// costs: as in score.js; seconds: what one of the visitor's guesses took, on average.
export function paceWords(verdicts, drafted, costs, seconds) {
  const [mine, draft] = [verdicts, drafted].map((each) => times(speedUp(each, costs, costs.step)));
  const real = speedUp(verdicts, costs, seconds);
  const pace = real < 1 ? `the text would take ${times(1 / real)} times as long as with the target alone`
    : `the text would come ${times(real)} times as fast as with the target alone`;
  return [
    `You would make the target ${mine} times as fast, if you guessed in ${duration(costs.step)} as the draft does. `
    + `The draft makes it ${draft} times as fast.`,
    `You took ${duration(seconds)} per guess. At that pace ${pace}.`,
  ];
}

export function costsWords({ forward, step }, { target, draft }) {
  const areApart = draft && draft.device !== target.device;
  const where = areApart ? `target on ${target.device}, draft on ${draft.device}` : target.device;
  return `Measured before the recorded run (${where}): a forward pass takes ${duration(forward(1))} with 1 token and `
    + `${duration(forward(4))} with 4; a draft step takes ${duration(step)}.`;
}
