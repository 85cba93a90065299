// Scores of the game "You be the draft": what the target makes of guesses, and how fast that would be.

import { timeAt } from "../learn/costs.js";

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
    // The target's own token comes after those accepted.
    tokens: accepted + 1, stop: end < 0 || wrong >= 0 ? null : !isAmong(places[end]),
  };
}

// What the draft would have said in the same round.
export const draftPicks = ({ places }) => places.map(({ guess }) => guess.id);

const sumOf = (verdicts, name) => verdicts.reduce((sum, verdict) => sum + verdict[name], 0);

// All rounds together. "Something else" is no guess: it is neither accepted nor rejected, and is counted by itself.
export function summary(verdicts) {
  const [tested, accepted, tokens] = ["tested", "accepted", "tokens"].map((name) => sumOf(verdicts, name));
  const stops = verdicts.map(({ stop }) => stop).filter((stop) => stop !== null);
  return {
    tested, accepted, acceptance: tested ? accepted / tested : null,
    perForward: verdicts.length ? tokens / verdicts.length : null,
    stops: stops.length, rightStops: stops.filter(Boolean).length,
  };
}

// The costs that the machine had before the recorded run, in seconds; null where they were not measured.
export function costsOf({ calibration }) {
  if (!(calibration?.target?.length > 1 && calibration.draft?.length)) return null;
  return { forward: (rows) => timeAt(calibration.target, rows), step: calibration.draft[0][1] };
}

// How many times as fast as the target alone, which writes one token per forward pass. A forward pass reads the last
// token of the text and all guesses.
export function speedUp(verdicts, { forward }, secondsPerGuess) {
  const alone = sumOf(verdicts, "tokens") * forward(1);
  const together = verdicts.reduce((sum, { guesses }) => sum + guesses * secondsPerGuess + forward(1 + guesses), 0);
  return alone / together;
}
