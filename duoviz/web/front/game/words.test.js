// Tests of words.js: the sentences as they are read.

import assert from "node:assert/strict";
import test from "node:test";
import { judge } from "./score.js";
import {
  costsWords, draftWords, paceWords, shareWords, speedWords, stopsWords, tokenWords, verdictWords, waitWords,
} from "./words.js";

const place = (target, ...texts) => {
  const options = texts.map((text) => ({ id: text, text }));
  return { options, guess: options[0], target: { id: target, text: target, name: target } };
};
const ROUND = {
  places: [place(" of", " of", " in"), place(" the", " a", " the"), place(" sky", " sun", " sea")],
  next: { id: ".", name: "." },
};

test("what became of the guesses", () => {
  const [right, among] = [`"Something else" was right: none of the 2 options.`, "It was among the options."];
  const said = [
    [[" of", " the", " sky"], `The target accepted all 3 guesses and added ".": 4 tokens in one forward pass.`],
    [[" of", " the", " sun"], `The target accepted 2 of 3 guesses and wrote "sky": 3 tokens in one forward pass.`],
    [[" in", " the", " sun"], `The target accepted none of 3 guesses and wrote "of": 1 token in one forward pass.`],
    [[" of", " the", null], `The target accepted both guesses and added "sky": 3 tokens in one forward pass. ${right}`],
    [[" of", null], `The target accepted your guess and added "the": 2 tokens in one forward pass. ${among}`],
    [[" in", null], `The target rejected your guess and wrote "of": 1 token in one forward pass.`],
    [[null], `You made no guess. The target wrote "of": 1 token in one forward pass. ${among}`],
  ];
  for (const [picks, words] of said) assert.equal(verdictWords(judge(ROUND, picks), ROUND), words);
});

test("what the check will be", () => {
  assert.equal(waitWords(3, false), "One forward pass checks your 3 guesses at once.");
  assert.equal(waitWords(0, true), `"Something else" is no guess: the target writes one token by itself.`);
  assert.equal(waitWords(1, true), `"Something else" ends your guesses. One forward pass checks the one before it.`);
  assert.equal(waitWords(2, true), `"Something else" ends your guesses. One forward pass checks the 2 before it.`);
});

test("the draft's guesses", () => {
  assert.equal(draftWords(judge(ROUND, [" of", " a", " sun"]), ROUND),
    `The draft's likeliest tokens: "of", "a", "sun". The target accepts 1 of them.`);
});

test("tokens can be read, and the end of the answer is named", () => {
  const texts = [" of", "\n", " characteristically", "<|im_end|>", ""];
  assert.deepEqual(texts.map(tokenWords), ["␣of", "↵", "␣characteristically", "end of answer", "∅"]);
});

test("the end's figures", () => {
  const costs = { forward: (rows) => 0.018 + 0.002 * rows, step: 0.002 };
  const [all, none] = [judge(ROUND, [" of", " the", " sky"]), judge(ROUND, [" in", " the", " sky"])];
  assert.equal(speedWords([all], costs), "2.5×");
  assert.deepEqual(paceWords([all], [none], costs, 4), [
    "You would make the target 2.5 times as fast, if you guessed in 2.0 ms as the draft does. "
    + "The draft makes it 0.6 times as fast.",
    "You took 4.00 s per guess. At that pace the text would take 150 times as long as with the target alone.",
  ]);
  assert.equal(shareWords({ acceptance: 0.75, accepted: 3, tested: 4 }), "75 % (3\u00a0of\u00a04)");
  assert.equal(shareWords({ acceptance: null, accepted: 0, tested: 0 }), "no guess");
  assert.equal(stopsWords({ stops: 0, rightStops: 0 }), "");
  assert.match(stopsWords({ stops: 3, rightStops: 1 }), /^You said "something else" 3 times and were right 1 time\./);
  assert.equal(costsWords(costs, { target: { device: "core 1" }, draft: { device: "core 0" } }),
    "Measured before the recorded run (target on core 1, draft on core 0): a forward pass takes 20.0 ms with 1 token "
    + "and 26.0 ms with 4; a draft step takes 2.0 ms.");
});
