// The two recorded runs of the first screen, and what the second would be were the small
// model right more or less often.

import { beginOf } from "../visualizer/state.js";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

// Each token with its iteration and the time at which it is known.
export function writtenIn({ header, iterations }) {
  const written = ({ committed, sync }, at) => committed.map(({ text, source }) => ({ text, source, sync, at }));
  return { header, iterations, tokens: iterations.flatMap(written), wall: iterations.at(-1)?.sync ?? 0 };
}

// Whether both wrote the same: only then the one is faster.
export const areSame = (one, other) => (
  one.tokens.length > 0 && one.tokens.map(({ text }) => text).join("") === other.tokens.map(({ text }) => text).join(""));

// The mean iteration after the one that reads the prompt, in seconds from its begin.
function meanIteration(iterations) {
  const rest = iterations.slice(1).map((iteration, at) => ({ ...iteration, begin: iterations[at].sync }));
  const steps = rest.flatMap(({ draft }) => draft.map(({ start, end }) => end - start));
  const count = Math.round(steps.length / rest.length);
  return {
    seconds: mean(rest.map(({ sync, begin }) => sync - begin)),
    target: ["start", "end"].map((name) => mean(rest.map(({ target, begin }) => target[name] - begin))),
    drafting: mean(rest.filter(({ draft }) => draft.length).map((each) => Math.max(0, beginOf(each) - each.begin))),
    step: mean(steps), steps: count,
  };
}

// The run as it would be with so many tokens an iteration, each with the recorded run's mean times: computed, not
// measured.
export function expectedRun(run, tokensEach) {
  const { seconds, target, drafting, step, steps } = meanIteration(run.iterations);
  const [first] = run.iterations;
  const iterations = [first];
  const tokens = run.tokens.filter(({ at }) => at === 0);
  for (let at = 1; tokens.length < run.tokens.length; at++) {
    const begin = iterations.at(-1).sync;
    const until = Math.min(run.tokens.length, first.committed.length + Math.max(at, Math.floor(at * tokensEach)));
    const written = run.tokens.slice(tokens.length, until);
    const sync = begin + seconds;
    tokens.push(...written.map(({ text }, order) => (
      { text, source: order < written.length - 1 ? "draft" : "target", sync, at })));
    iterations.push({
      index: at, target: { start: begin + target[0], end: begin + target[1], rows: 1 }, sync,
      committed: written, candidates: [],
      draft: Array.from({ length: steps }, (_, order) => ({
        start: begin + drafting + order * step, end: begin + drafting + (order + 1) * step, tokens: 1,
      })),
      verdict: { tested: 0, accepted: 0 },
    });
  }
  return { header: run.header, iterations, tokens, wall: iterations.at(-1).sync };
}

// As on the Lab's maps, what is less is not called faster.
const FASTER = 1.05;

// The share of guesses from which on the run would be faster than the other; null where there is none. rates, tokens:
// what theory expects, by how often the small model is right.
export function paysFrom(run, wall, { rates, tokens }) {
  const most = wall / FASTER;
  const walls = tokens.map((each) => expectedRun(run, each).wall);
  const at = walls.findIndex((each) => each <= most);
  if (at < 1) return null;
  const part = (walls[at - 1] - most) / (walls[at - 1] - walls[at]);
  return rates[at - 1] + part * (rates[at] - rates[at - 1]);
}
