// Tests of candidates.js: the sentence under the first tokens.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf } from "../testing.js";
import { candidateWords } from "./candidates.js";

const PARALLEL = headerOf({ about: { parallel: true } });
const SET = headerOf({ about: { parallel: true }, settings: { sequences: 4 } });

// Of eight first tokens, so many are over the threshold.
function words(over, more, header = PARALLEL) {
  const candidates = Array.from({ length: 8 }, (_, index) => ({ id: index, text: "t", p: 0.1, over: index < over }));
  return candidateWords(iterationOf({ theta: 0.2, ...more }), candidates, header);
}

test("as many sequences as tokens over the threshold", () => {
  assert.equal(words(3, { sequences: 3 }), "3 over the threshold ● → k = 3 sequences");
  assert.equal(words(1, { sequences: 1 }), "1 over the threshold ● → k = 1 sequence");
});

test("fewer or more sequences than that", () => {
  assert.equal(words(0, { sequences: 1 }),
    "none over the threshold, so only the most probable starts a sequence; k = 1 sequence");
  assert.equal(words(3, { sequences: 2 }), "3 over the threshold ●; k = 2 sequences");
  assert.equal(words(8, { sequences: 6 }), "at least 8 over the threshold ●; k = 6 sequences");
  assert.equal(words(2, { sequences: null }), "2 over the threshold ●; k = –");
});

test("a number of sequences that was set follows from nothing", () => {
  assert.equal(words(4, { sequences: 4 }, SET), "4 over the threshold ●; k = 4 sequences, as set");
  assert.equal(words(0, { sequences: 4 }, SET), "0 over the threshold ●; k = 4 sequences, as set");
});

test("without a threshold, or without a draft", () => {
  assert.match(words(0, { theta: null }), /^No θ: it needs two/);
  assert.equal(words(0, { theta: null }, headerOf()), "", "a method that has none");
  assert.equal(candidateWords(iterationOf(), [], PARALLEL), "Nothing was drafted in this iteration.");
});
