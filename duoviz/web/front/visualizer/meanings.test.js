// Tests of meanings.js: every figure has a meaning, and sentences have the words explained that need it.

import assert from "node:assert/strict";
import test from "node:test";
import { MEANINGS, placesToExplain } from "./meanings.js";

const wordsIn = (text) => placesToExplain(text).map(([begin, end]) => text.slice(begin, end));

test("each figure has a label and a meaning in whole sentences", () => {
  for (const [label, meaning] of Object.values(MEANINGS)) {
    assert.ok(label);
    assert.match(meaning, /^[A-Z].*\.$/);
  }
});

test("the first place of each word, in the text's order", () => {
  const text = "Only one token was over the threshold, so 1 sequence started; 2 sequences have a threshold.";
  const begins = placesToExplain(text).map(([begin]) => begin);
  assert.deepEqual(begins, [text.indexOf("threshold"), text.indexOf("sequence")]);
  assert.deepEqual(wordsIn(text), ["threshold", "sequence"]);
  assert.deepEqual(wordsIn("3 sequences started"), ["sequences"]);
});

test("each word is explained by what it means, and parts of other words are none", () => {
  const [[, , threshold], [, , sequence]] = placesToExplain("threshold, sequence");
  assert.equal(threshold, MEANINGS.theta[1]);
  assert.match(sequence, /^A sequence: /);
  assert.deepEqual(placesToExplain("subsequences have consequences, thresholds too"), []);
});
