// Tests of score.js: what becomes of guesses, and what that gives.

import assert from "node:assert/strict";
import test from "node:test";
import { near, recordingOf } from "../testing.js";
import { roundsOf } from "./rounds.js";
import { costsOf, draftPicks, judge, speedUp, summary } from "./score.js";

// Three places at which the target wrote 1, 2 and 3; the last place's options lack it, and the draft takes the first.
const place = (target, ...ids) => (
  { options: ids.map((id) => ({ id })), guess: { id: ids[0] }, target: { id: target } }
);
const ROUND = { places: [place(1, 1, 9), place(2, 8, 2), place(3, 7, 6)] };

const verdictOf = (...picks) => {
  const { guesses, tested, accepted, tokens, stop } = judge(ROUND, picks);
  return [guesses, tested, accepted, tokens, stop];
};

test("guesses up to the first wrong one are accepted, and the target adds one token", () => {
  assert.deepEqual(verdictOf(1, 2, 3), [3, 3, 3, 4, null]);
  assert.deepEqual(verdictOf(1, 2, 7), [3, 3, 2, 3, null]);
  assert.deepEqual(verdictOf(1, 8, 3), [3, 2, 1, 2, null]);
  assert.deepEqual(verdictOf(9, 2, 3), [3, 1, 0, 1, null]);
});

test("something else ends the guesses, and is right where the target's token is no option", () => {
  assert.deepEqual(verdictOf(1, 2, null), [2, 2, 2, 3, true]);
  assert.deepEqual(verdictOf(1, null), [1, 1, 1, 2, false]);
  assert.deepEqual(verdictOf(null), [0, 0, 0, 1, false]);
  // It was not come to.
  assert.deepEqual(verdictOf(9, null), [1, 1, 0, 1, null]);
});

test("all rounds together", () => {
  const verdicts = [[1, 2, null], [1, null], [9, 2, 3]].map((picks) => judge(ROUND, picks));
  const { tested, accepted, acceptance, perForward, stops, rightStops } = summary(verdicts);
  assert.deepEqual([tested, accepted, stops, rightStops], [4, 3, 2, 1]);
  near(acceptance, 3 / 4);
  near(perForward, 6 / 3);
  assert.equal(summary([judge(ROUND, [null])]).acceptance, null);
  assert.equal(summary([]).perForward, null);
});

test("the draft says its likeliest token everywhere", () => {
  assert.deepEqual(draftPicks(ROUND), [1, 8, 7]);
});

test("costs are those of the recording, and on a straight line between two measurements", () => {
  const costs = costsOf({ calibration: { target: [[1, 0.02], [3, 0.04]], draft: [[1, 0.003], [2, 0.004]] } });
  near(costs.forward(1), 0.02);
  near(costs.forward(2), 0.03);
  near(costs.step, 0.003);
  assert.equal(costsOf({ calibration: null }), null);
  assert.equal(costsOf({}), null);
});

test("a forward pass of four tokens and three guesses, against one token a forward pass", () => {
  const costs = { forward: (rows) => 0.018 + 0.002 * rows, step: 0.001 };
  const verdicts = [judge(ROUND, [1, 2, 3])];
  near(speedUp(verdicts, costs, 0.002), (4 * 0.02) / (0.026 + 3 * 0.002));
  // Nothing is guessed, so nothing is gained or lost.
  near(speedUp([judge(ROUND, [null])], costs, 5), 1);
  assert.ok(speedUp(verdicts, costs, 3) < 0.01);
});

test("on the recorded costs the draft gains, and whoever always knows gains more", () => {
  const trace = recordingOf("duotree");
  const costs = costsOf(trace.header);
  const gains = [];
  for (let seed = 0; seed < 10; seed++) {
    const { rounds } = roundsOf(trace, seed);
    const drafted = rounds.map((round) => judge(round, draftPicks(round)));
    const best = rounds.map((round) => {
      const ids = round.places.map(({ options, target }) => options.find(({ id }) => id === target.id)?.id ?? null);
      return judge(round, ids.includes(null) ? ids.slice(0, ids.indexOf(null) + 1) : ids);
    });
    const [draft, knowing] = [drafted, best].map((verdicts) => speedUp(verdicts, costs, costs.step));
    assert.ok(knowing >= draft, `${seed}: ${draft}, ${knowing}`);
    gains.push(draft);
    assert.equal(summary(best).acceptance, 1);
    assert.equal(summary(best).stops, summary(best).rightStops);
  }
  // Eight rounds of a seed may be hard ones.
  assert.ok(gains.reduce((sum, gain) => sum + gain) > gains.length, gains.join());
});
