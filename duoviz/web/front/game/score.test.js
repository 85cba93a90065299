// Tests of score.js and ending.js: what becomes of guesses, what that gives, in words, and links to the same rounds.

import assert from "node:assert/strict";
import test from "node:test";
import { near } from "../testing.js";
import { viewOfFragment } from "../share/link.js";
import { fragmentTo, leadsToLesson, newSeed, seedIn } from "./ending.js";
import {
  costsOf, costsWords, draftPicks, draftWords, judge, paceWords, shareWords, speedUp, speedWords, stopsWords,
  summary, verdictWords,
} from "./score.js";

// Three places at which the target wrote these; the last place's options lack it, and the draft takes the first ones.
const place = (target, ...texts) => {
  const options = texts.map((text) => ({ id: text, text }));
  return { options, guess: options[0], target: { id: target, name: target } };
};
const ROUND = {
  places: [place(" of", " of", " in"), place(" the", " a", " the"), place(" sky", " sun", " sea")],
  next: { id: ".", name: "." },
};
const judged = (...picks) => judge(ROUND, picks);

test("guesses up to the first wrong one are accepted, the target adds a token, and something else ends the guesses", () => {
  const [right, among] = [`"Something else" was right: none of the 2 options.`, "It was among the options."];
  const cases = [
    [[" of", " the", " sky"], [3, 3, 3, 4, null], `The large model accepted all 3 guesses and added ".": 4 tokens in one pass.`],
    [[" of", " the", " sun"], [3, 3, 2, 3, null], `The large model accepted 2 of 3 guesses and wrote "sky": 3 tokens in one pass.`],
    [[" in", " the", " sun"], [3, 1, 0, 1, null], `The large model accepted none of 3 guesses and wrote "of": 1 token in one pass.`],
    [[" of", " the", null], [2, 2, 2, 3, true], `The large model accepted both guesses and added "sky": 3 tokens in one pass. ${right}`],
    [[" of", null], [1, 1, 1, 2, false], `The large model accepted your guess and added "the": 2 tokens in one pass. ${among}`],
    // It was not come to.
    [[" in", null], [1, 1, 0, 1, null], `The large model rejected your guess and wrote "of": 1 token in one pass.`],
    [[null], [0, 0, 0, 1, false], `You made no guess. The large model wrote "of": 1 token in one pass. ${among}`],
  ];
  for (const [picks, expected, words] of cases) {
    const { guesses, tested, accepted, tokens, stop } = judge(ROUND, picks);
    assert.deepEqual([guesses, tested, accepted, tokens, stop], expected);
    assert.equal(verdictWords(judge(ROUND, picks), ROUND), words);
  }
  assert.equal(draftWords(judge(ROUND, draftPicks(ROUND))), "Of the small model's own 3 guesses, the large model accepts 1.");
});

test("all rounds together", () => {
  const { tested, accepted, perForward, stops, rightStops } = summary(
    [judged(" of", " the", null), judged(" of", null), judged(" in", " the", " sky")]);
  assert.deepEqual([tested, accepted, stops, rightStops], [4, 3, 2, 1]);
  near(perForward, 6 / 3);
  assert.equal(shareWords({ accepted, tested }), "75 % (3\u00a0of\u00a04)");
  assert.equal(shareWords(summary([judged(null)])), "no guess");
  assert.equal(stopsWords({ stops: 0, rightStops: 0 }), "");
  assert.match(stopsWords({ stops: 3, rightStops: 1 }), /^You said "something else" 3 times and were right 1 time\./);
});

test("how fast that is, on the recording's costs, straight between two measurements", () => {
  const calibration = { target: [[1, 0.02], [3, 0.024], [4, 0.026]], draft: [[1, 0.002], [2, 0.004]] };
  const costs = costsOf({ calibration });
  const [all, none] = [[judged(" of", " the", " sky")], [judged(" in", " the", " sky")]];
  near(costs.forward(2), 0.022);
  near(speedUp(all, costs, 0.004), (4 * 0.02) / (0.026 + 3 * 0.004));
  // Nothing is guessed, so nothing is gained or lost.
  near(speedUp([judged(null)], costs, 5), 1);
  assert.equal(speedWords(all, costs), "2.5×");
  assert.deepEqual(paceWords(all, none, costs, 4), [
    "You would make the large model 2.5 times as fast, if you guessed in 2.0\u00a0ms as the small model does. "
    + "The small model makes it 0.6 times as fast.",
    "You took 4.00\u00a0s per guess. At that pace the text would take 150 times as long as with the large model alone.",
  ]);
  assert.equal(costsWords(costs, { target: { device: "core 1" }, draft: { device: "core 0" } }),
    "Measured before the recorded run (large model on core 1, small model on core 0): a pass of the large model takes 20.0\u00a0ms with 1 token "
    + "and 26.0\u00a0ms with 4; a guess of the small model 2.0\u00a0ms, counted for each (the first after a pass; further ones take less).");
});

const LESSON = { kind: "choice", default: "", choices: ["", "one"] };
const PAGES = { live: { fields: {} }, learn: { fields: { lesson: LESSON } } };

test("a seed comes back from its link, which leads to the course, and what is no seed begins no game", () => {
  assert.equal(fragmentTo(7), "#tab=learn&draft=7");
  for (const seed of [0, 7, 1_000_000, newSeed()]) {
    assert.equal(seedIn(fragmentTo(seed)), seed);
    const { view, problem } = viewOfFragment(fragmentTo(seed), PAGES);
    assert.deepEqual([view.tab, view.draft, problem], ["learn", seed, ""]);
  }
  for (const hash of ["", "#tab=learn", ...["", "x", "-1", "1000001"].map((seed) => `#draft=${seed}`)]) {
    assert.equal(seedIn(hash), null, hash);
  }
  assert.deepEqual(["#tab=learn&lesson=one&page=2", "#tab=learn"].map(leadsToLesson), [true, false]);
});
