// Tests of words.js: how tokens and numbers are written.

import assert from "node:assert/strict";
import test from "node:test";
import { apart, clip, count, duration, fateOf, fixed, percent, quote, tokenLabel, visible } from "./words.js";

test("what cannot be seen gets a sign", () => {
  assert.equal(visible("a\nb\r\nc\td"), "a↵b↵c⇥d");
  assert.equal(visible("\u0000|\u001b|\r|\u202e|\u2066|\u200b|\ue000|\ud800|\uffff"), "·|·|·|·|·|·|·|·|·");
  assert.equal(visible("naïve 日本 😀"), "naïve 日本 😀");
  assert.equal(visible(null), "null");
});

test("what is too long is cut, and never through a character", () => {
  const cut = [["abcd", 4, "abcd"], ["abcde", 4, "abc…"], ["😀😀😀", 2, "😀…"], ["😀😀", 2, "😀😀"], ["", 4, ""]];
  for (const [text, length, expected] of cut) assert.equal(clip(text, length), expected);
});

test("the space before a word is apart from it", () => {
  const parts = [" rain", "bow", " ", "  a", "\n"].map(apart);
  assert.deepEqual(parts, [[" ", "rain"], ["", "bow"], ["", " "], ["", "  a"], ["", "\n"]]);
});

test("a token's label", () => {
  const labels = [" rainbow", "\n\n", "", "<|im_end|>", "<|im_start|>", "abcdefghijklm"].map(tokenLabel);
  assert.deepEqual(labels, ["␣rainbow", "↵↵", "∅", "end of answer", "<|im_start|>", "abcdefghijk…"]);
});

test("a token in a sentence", () => {
  const quoted = [" rainbow ", "  ", "\n", "", "</s>"].map((text) => quote(text));
  assert.deepEqual(quoted, [`"rainbow"`, `"␣␣"`, `"↵"`, `""`, "the end of the answer"]);
  assert.equal(quote("x".repeat(25)), `"${"x".repeat(23)}…"`);
  assert.equal(quote("x".repeat(25), 48), `"${"x".repeat(25)}"`);
  assert.equal(quote(" שלום"), `"\u2068שלום\u2069"`, "what is written from right to left turns nothing else around");
});

test("numbers; what is not known is a dash", () => {
  for (const value of [null, undefined, NaN, Infinity]) {
    assert.deepEqual([fixed(value, 2), percent(value), duration(value)], ["–", "–", "–"]);
  }
  assert.deepEqual([fixed(2, 1), fixed(0.12345, 3), percent(0.426)], ["2.0", "0.123", "43 %"]);
  assert.deepEqual([0, 1, 2].map((number) => count(number, "token")), ["0 tokens", "1 token", "2 tokens"]);
  const written = [0, 0.0005, 0.05, 0.5, 1, 12.34].map(duration);
  assert.deepEqual(written, ["0.0\u00a0ms", "0.5\u00a0ms", "50.0\u00a0ms", "500\u00a0ms", "1.00\u00a0s", "12.34\u00a0s"]);
});

test("of what was discarded, what the target read is told from what it never checked", () => {
  const nodes = [{ status: "rejected", parent: -1 }, { status: "discarded", parent: 0 }];
  const fatesIn = (list, all, header) => all.map((node) => fateOf(list, node, all, header));
  const fates = ["checked", "drafted", "rest"].map((list) => fatesIn(list, nodes));
  assert.deepEqual(fates, [["rejected", "discarded"], ["rejected", "unchecked"], ["rejected", "unchecked"]]);
  // Beside an accepted token another one for its place is wrong, if it was compared.
  const [accepted, other] = ["accepted", "discarded"].map((status) => ({ status, parent: -1 }));
  const beside = [accepted, other, { status: "discarded", parent: 1 }];
  assert.deepEqual(fatesIn("checked", beside), ["accepted", "rejected", "discarded"]);
  assert.deepEqual(fatesIn("drafted", beside), ["accepted", "rejected", "unchecked"]);
  const classical = (temperature) => ({ settings: { acceptance: "rejection", temperature } });
  assert.deepEqual([0, 0.5].map((temperature) => fatesIn("drafted", beside, classical(temperature))[1]), ["rejected", "unchecked"]);
});
