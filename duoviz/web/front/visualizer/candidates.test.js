// Tests of candidates.js: the sentence under the first tokens.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf } from "../testing.js";
import { candidateWords } from "./candidates.js";

const PARALLEL = headerOf({ about: { parallel: true } });
const SET = headerOf({ about: { parallel: true }, settings: { sequences: 4 } });

// How many of eight first tokens are over the threshold, and what is said of the iteration.
const SAID = [
  [3, { sequences: 3 }, "3 over the threshold ● → k = 3 sequences"],
  [1, { sequences: 1 }, "1 over the threshold ● → k = 1 sequence"],
  [0, { sequences: 1 }, "none over the threshold, so only the most probable starts a sequence; k = 1 sequence"],
  [3, { sequences: 2 }, "3 over the threshold ●; k = 2 sequences"],
  [8, { sequences: 6 }, "at least 8 over the threshold ●; k = 6 sequences"],
  [2, { sequences: null }, "2 over the threshold ●; k = –"],
  // A number of sequences that was set follows from nothing.
  [4, { sequences: 4 }, "4 over the threshold ●; k = 4 sequences, as set", SET],
  [0, { sequences: 4 }, "0 over the threshold ●; k = 4 sequences, as set", SET],
  [0, { theta: null }, "No θ: it needs two draft steps, and only one was made."],
  // A method that has none.
  [0, { theta: null }, "", headerOf()],
];

test("how many tokens are over the threshold, and how many sequences began", () => {
  for (const [over, more, words, header = PARALLEL] of SAID) {
    const candidates = Array.from({ length: 8 }, (_, index) => ({ id: index, text: "t", p: 0.1, over: index < over }));
    assert.equal(candidateWords(iterationOf({ theta: 0.2, ...more }), candidates, header), words);
  }
  assert.equal(candidateWords(iterationOf(), [], PARALLEL), "Nothing was drafted in this iteration.");
});
