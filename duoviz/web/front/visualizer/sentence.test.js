// Tests of sentence.js: an iteration of a method that works in parallel, in one sentence.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings, stateOf, tokenOf } from "../testing.js";
import { tokensBefore } from "./state.js";
import { sentence } from "./sentence.js";

const HEADER = headerOf({ about: { parallel: true } });
const said = (iteration, header = HEADER) => (
  sentence(iterationOf(iteration), { header, end: null, before: 0, last: false })
);

const [a, b, c] = ["a", "b", "c"].map((text) => nodeOf(text));
const rejected = nodeOf("r", { status: "rejected" });
const begun = (text, q) => nodeOf(text, { q, status: "discarded" });
const candidates = (over) => [0, 1, 2].map((index) => ({ id: index, text: "t", p: 0.1, over: index < over }));

// Of `starts`, the first tokens of the sequences, the target took number `sequence`, or none.
const hit = (starts, sequence, more = {}) => (
  { drafted: starts, verdict: { outcome: "hit", sequence }, committed: [tokenOf("x", "draft")], ...more }
);
const miss = (starts, more = {}) => (
  { drafted: [...starts, ownNode("own")], verdict: { outcome: "miss" }, committed: ["own"], ...more }
);

test("reading the prompt", () => {
  const prompt = { mode: "prefill", target: { start: 0, end: 1, rows: 36 } };
  assert.equal(said({ ...prompt, committed: ["A"] }),
    `The target read the prompt (36 tokens); the target's first token is "A".`);
  assert.equal(said({ ...prompt, ...hit([nodeOf("The")], 1) }),
    `Both models read the prompt (36 tokens); the target's first token is "The", as the draft had guessed.`);
  assert.equal(said({ ...prompt, ...miss([begun("The", 0.5)]) }),
    `Both models read the prompt (36 tokens); the target's first token is "own".`);
  assert.equal(said(prompt), "The target read the prompt (36 tokens); the first new token comes later.");
});

test("nothing that could be tested", () => {
  assert.equal(said({ checked: [ownNode("x")], committed: ["x"] }),
    `Nothing was drafted that could be tested, so the target computed one token: "x".`);
  assert.equal(said({}), "Nothing was drafted that could be tested, so the target computed no new token.");
  assert.equal(said({ mode: "alone", committed: ["x"] }),
    `Guesses are rarely right here, so none is checked: the target wrote "x" alone.`);
});

test("a rejection", () => {
  const rejection = { verdict: { outcome: "rejection" }, committed: [tokenOf("a", "draft"), "own"] };
  assert.equal(said({ ...rejection, checked: [a, rejected, ownNode("own")], drafted: [begun("x", 0.5)] }),
    `The target accepted 1 of 2 pending tokens, rejected "r" and put its correction "own" there; `
    + "all that was drafted after it is discarded.");
  assert.equal(said({ ...rejection, checked: [rejected, ownNode("own")] }),
    `The target rejected "r" and put its correction "own" there.`);
  assert.equal(said({ ...rejection, checked: [a], committed: [] }),
    "The target accepted the pending token, rejected the next.");
});

test("how many of the pending tokens were accepted", () => {
  const committed = ["a", "b", "c", "x"];
  const words = [[a], [a, b], [a, b, c]].map((checked) => said(hit([begun("x", 0.9)], 1, { checked, committed })));
  assert.deepEqual(words, [
    `1 sequence started (0.90 for "x"); the target accepted the pending token and chose its first token.`,
    `1 sequence started (0.90 for "x"); the target accepted both pending tokens and chose its first token.`,
    `1 sequence started (0.90 for "x"); the target accepted all 3 pending tokens and chose its first token.`,
  ]);
});

test("why so many sequences began", () => {
  const starts = (theta, over, nodes) => said(hit(nodes, 1, { theta, candidates: candidates(over) })).split("; ")[0];
  const two = [begun("x", 0.4), begun("y", 0.25)];
  assert.equal(starts(0.2, 2, two), `The draft was unsure (0.40 for "x", 0.25 for "y"), so 2 sequences started`);
  assert.equal(starts(0.2, 3, two),
    `More first tokens were over the threshold (0.40 for "x", 0.25 for "y") `
    + "than may begin a sequence: 2 sequences started");
  assert.equal(starts(0.5, 0, [begun("x", 0.4)]),
    `No first token was over the threshold (0.40 for "x"), and yet 1 sequence started, with the best one`);
  assert.equal(starts(0.2, 1, [begun("x", 0.5)]), `The draft was fairly sure (0.50 for "x"), so 1 sequence started`);
  assert.equal(starts(0.2, 1, [begun("x", 0.4)]),
    `Only one first token was over the threshold (0.40 for "x"), so 1 sequence started`);
});

test("a number of sequences that was set needs no reason", () => {
  const header = headerOf({ about: { parallel: true }, settings: { sequences: 2 } });
  const iteration = hit([begun("x", 0.4), begun("y", 0.25)], 2, { theta: 0.2, candidates: candidates(2) });
  assert.equal(said(iteration, header),
    `2 sequences started (0.40 for "x", 0.25 for "y"); the target chose the second.`);
});

test("which sequence was taken, or none", () => {
  const starts = Array.from({ length: 9 }, () => begun("x", null));
  assert.equal(said(hit(starts, 8)), "9 sequences started; the target chose the eighth.");
  assert.equal(said(hit(starts, 9)), "9 sequences started; the target chose the 9th.");
  assert.equal(said(miss(starts.slice(0, 2))),
    `2 sequences started; the target wrote "own", which none begins with.`);
  assert.equal(said(miss([], { checked: [a], committed: ["a", "own"] })),
    `The target accepted the pending token and added "own".`);
  assert.equal(said(hit([], null, { checked: [a, b], committed: ["a", "b"] })),
    "The target accepted both pending tokens.");
});

test("an answer that ends before all that was chosen", () => {
  const chosen = (number) => (
    { checked: [a, b, c].slice(0, number), verdict: { outcome: "hit" }, committed: [tokenOf("a", "draft")] }
  );
  assert.equal(said(chosen(1)), "The target accepted the pending token.");
  assert.equal(said(chosen(2)),
    "The target accepted both pending tokens. The last one comes after the end of the answer and is dropped.");
  assert.equal(said(chosen(3)),
    "The target accepted all 3 pending tokens. The last 2 come after the end of the answer and are dropped.");
});

test("a method that takes turns has its own words", () => {
  assert.equal(said({ index: 1, checked: [a, ownNode("own")], committed: [tokenOf("a", "draft"), "own"] }, headerOf()),
    `The draft proposed 1 token; the target agreed with it and added "own".`);
});

test("every iteration of the recordings is told in whole sentences", () => {
  for (const { header, iterations, end } of recordings()) {
    const state = stateOf(iterations, header);
    iterations.forEach((iteration, position) => {
      const about = { before: tokensBefore(state, position), last: position === iterations.length - 1 };
      const words = sentence(iteration, { header, end, ...about });
      assert.match(words, /^[A-Z0-9].*\.$/s, `${header.method}, iteration ${position}`);
      assert.doesNotMatch(words, /undefined|null|NaN|\[object|\{\w/, words);
    });
  }
});
