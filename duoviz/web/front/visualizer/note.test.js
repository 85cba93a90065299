// Tests of note.js: the details of an iteration.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings } from "../testing.js";
import { branchesOf, listChances, note, proposalsOf } from "./note.js";

const PARALLEL = { header: headerOf({ about: { parallel: true } }) };
const aboutOf = (about, more) => ({ header: headerOf({ about, ...more }) });
const noted = (iteration, about = {}) => note(
  iterationOf({ index: 1, committed: ["v", "w", "x", "y", "z"], ...iteration }),
  { header: headerOf(), end: null, before: 10, last: false, ...about });
const own = ownNode("own");
const [a, b] = [nodeOf("a", { q: 0.5 }), nodeOf("b", { q: 0.25, parent: 0 })];
const window = nodeOf("w", { status: "window" });

test("proposals are neither the target's own nor a window's, and their leaves end branches", () => {
  const checked = [a, b, nodeOf("x"), window, own];
  assert.deepEqual(proposalsOf({ checked }), checked.slice(0, 3));
  assert.equal(branchesOf(checked.slice(0, 3)), 2);
});

test("probabilities, three at most", () => {
  const nodes = ["a", "b", "c", "d"].map((text) => nodeOf(text, { q: 0.2 }));
  assert.equal(listChances(nodes), `0.20 for "a", 0.20 for "b", 0.20 for "c", …`);
  assert.equal(listChances([nodeOf("a"), nodes[1]]), `0.20 for "b", …`, "one without a probability is only hinted at");
  assert.equal(listChances([nodeOf("a")]), "");
});

test("what was proposed, in the method's own words up to a semicolon", () => {
  const words = "{end} and {tokens:one|# tokens} in {branches:# branch|# branches} ({chances}){constructor}{else:c|d}; {target}";
  assert.equal(noted({ checked: [a, b, own], matched: { tokens: 2, text: " of the" } }, aboutOf({ verified: words })),
    `The last 2 tokens, "of the", and 2 tokens in 1 branch (0.50 for "a", 0.25 for "b").`);
  const hostile = { checked: [nodeOf("{end};"), own], matched: { tokens: 1, text: " the" } };
  assert.equal(noted(hostile, aboutOf({ verified: words })), `The last token, "the", and one in 1 branch ().`);
  assert.equal(noted({ checked: [a, own] }, aboutOf({ verified: "{end}" })), "The end of the text.", "an older trace");
});

test("why nothing was proposed", () => {
  const [nothing, full] = ["Nothing was proposed.", "There was room for only one token."];
  const said = [
    [{}, nothing], [{ before: 126 }, nothing], [{ before: 127 }, full],
    [{ last: true, end: { stopped: "context" } }, full], [{ last: true, end: { stopped: "eos" } }, nothing],
    // The context was not full yet.
    [{ end: { stopped: "context" } }, nothing], [aboutOf({ proposers: [] }), ""],
  ];
  for (const [about, words] of said) assert.equal(noted({ checked: [own] }, about), words);
  assert.equal(noted({ mode: "alone" }, PARALLEL), "Guesses are rarely right here, so none is checked.");
});

test("the sequences that the draft started", () => {
  const said = [
    ["hit", [a, b, nodeOf("c", { q: 0.1 }), own], `The draft started 2 sequences (0.50 for "a", 0.10 for "c").`],
    ["hit", [nodeOf("a")], "The draft started 1 sequence."],
    ["rejection", [a], `The draft started 1 sequence (0.50 for "a"). Everything after a rejected token is dropped.`],
    ["none", [a], `The draft started 1 sequence (0.50 for "a"), too late to be checked.`],
    ["none", [], "The draft was still reading the prompt."], ["none", [], "The prompt has 36 tokens.", 0],
  ];
  for (const [outcome, drafted, words, index = 1] of said) {
    assert.equal(noted({ index, drafted, verdict: { outcome } }, PARALLEL), words);
  }
});

test("a window, the start of the check, and what the answer's end cuts off", () => {
  const [about, checked] = [aboutOf({ verified: "Guessed" }), [a, b, own]];
  const start = { gain: 0.08213, seconds: 0.001402, rate: 61.405 };
  const said = [
    [{ checked: [...checked, window, window] }, "In the same forward pass, a window of 2 tokens looked for new guesses."],
    [{ checked, start }, "Another draft step (1.4 ms) would gain only 0.08 tokens, so checking began."],
    [{ checked, start: { ...start, gain: -1 } }, "Another draft step (1.4 ms) would gain only 0.00 tokens, so checking began."],
    [{ checked, start: { ...start, gain: null } }, ""],
    [{ checked, committed: ["a", "b"] }, "The last token comes after the end of the answer and is dropped."],
    [{ checked, committed: ["a"] }, "The last 2 tokens come after the end of the answer and are dropped."],
  ];
  for (const [iteration, words] of said) assert.equal(noted(iteration, about), `Guessed. ${words}`.trim());
  assert.equal(noted({ checked, start }, aboutOf({ verified: "Guessed" }, { can_overlap: true })),
    "Guessed. Checking started at once; the next draft step runs alongside.");
});

test("every recorded iteration with guesses has a note of whole sentences", () => {
  for (const { header, iterations, end } of recordings()) {
    let before = 0;
    for (const iteration of iterations) {
      const words = note(iteration, { header, end, before, last: iteration === iterations.at(-1) });
      before += iteration.committed.length;
      assert.match(words, header.method === "vanilla" && iteration.index ? /^$/ : /^[A-Z0-9].*\.$/s);
      assert.doesNotMatch(words, /undefined|null|NaN|\[object|\{\w/, words);
    }
  }
});
