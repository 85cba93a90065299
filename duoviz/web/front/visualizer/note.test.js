// Tests of note.js: the details of an iteration.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings, tokenOf } from "../testing.js";
import { branchesOf, listChances, note, proposalsOf } from "./note.js";

const PARALLEL = headerOf({ about: { parallel: true } });
const noted = (iteration, about = {}) => note(
  iterationOf({ index: 1, committed: ["v", "w", "x", "y", "z"], ...iteration }),
  { header: headerOf(), end: null, before: 10, last: false, ...about });
const own = ownNode("own");
const [a, b] = [nodeOf("a", { q: 0.5 }), nodeOf("b", { q: 0.25, parent: 0 })];

test("proposals are neither the target's own nor a window's, and their leaves end branches", () => {
  const checked = [a, b, nodeOf("x"), nodeOf("w", { status: "window" }), own];
  const proposals = proposalsOf({ checked });
  assert.deepEqual(proposals, [a, b, checked[2]]);
  assert.equal(branchesOf(proposals), 2);
});

test("probabilities, three at most", () => {
  const nodes = ["a", "b", "c", "d"].map((text) => nodeOf(text, { q: 0.2 }));
  assert.equal(listChances(nodes), `0.20 for "a", 0.20 for "b", 0.20 for "c", …`);
  assert.equal(listChances([nodeOf("a"), nodes[1]]), `0.20 for "b", …`, "one without a probability is only hinted at");
  assert.equal(listChances([nodeOf("a")]), "");
});

test("what was proposed, in the method's own words up to a semicolon", () => {
  const header = (verified) => ({ header: headerOf({ about: { verified } }) });
  const checked = [a, b, own];
  const words = "{end} and {tokens:one|# tokens} in {branches:# branch|# branches} ({chances}){constructor}{else:c|d}; {target}";
  assert.equal(noted({ checked, matched: { tokens: 2, text: " of the" } }, header(words)),
    `The last 2 tokens, "of the", and 2 tokens in 1 branch (0.50 for "a", 0.25 for "b").`);
  assert.equal(noted({ checked: [nodeOf("{end};"), own], matched: { tokens: 1, text: " the" } }, header(words)),
    `The last token, "the", and one in 1 branch ().`);
  assert.equal(noted({ checked }, header("{end}")), "The end of the text.", "an older trace");
});

test("why nothing was proposed", () => {
  const [nothing, full] = ["Nothing was proposed.", "There was room for only one token."];
  const checked = [own];
  assert.equal(noted({ checked }), nothing);
  assert.equal(noted({ checked }, { before: 126 }), nothing);
  assert.equal(noted({ checked }, { before: 127 }), full);
  assert.equal(noted({ checked }, { last: true, end: { stopped: "context" } }), full);
  assert.equal(noted({ checked }, { last: true, end: { stopped: "eos" } }), nothing);
  assert.equal(noted({ checked }, { end: { stopped: "context" } }), nothing, "the context was not full yet");
  assert.equal(noted({ checked, mode: "alone" }, { header: PARALLEL }), "Guesses are rarely right here, so none is checked.");
  assert.equal(noted({ checked }, { header: headerOf({ about: { proposers: [] } }) }), "");
});

test("the sequences that the draft started", () => {
  const said = (outcome, drafted, index = 1) => noted({ index, drafted, verdict: { outcome } }, { header: PARALLEL });
  const started = [a, b, nodeOf("c", { q: 0.1 }), own];
  assert.equal(said("hit", started), `The draft started 2 sequences (0.50 for "a", 0.10 for "c").`);
  assert.equal(said("hit", [nodeOf("a")]), "The draft started 1 sequence.");
  assert.equal(said("rejection", [a]),
    `The draft started 1 sequence (0.50 for "a"). Everything after a rejected token is dropped.`);
  assert.equal(said("none", [a]), `The draft started 1 sequence (0.50 for "a"), too late to be checked.`);
  assert.equal(said("none", []), "The draft was still reading the prompt.");
  assert.equal(said("none", [], 0), "The prompt has 36 tokens.");
});

test("a window, the start of the check, and what the answer's end cuts off", () => {
  const about = { header: headerOf({ about: { verified: "Guessed" } }) };
  const window = [1, 2].map(() => nodeOf("w", { status: "window" }));
  const checked = [a, b, own];
  assert.equal(noted({ checked: [...checked, ...window] }, about),
    "Guessed. In the same forward pass, a window of 2 tokens looked for new guesses.");
  const start = { gain: 0.08213, seconds: 0.001402, rate: 61.405 };
  assert.equal(noted({ checked, start }, about),
    "Guessed. Another draft step (1.4 ms) would gain only 0.08 tokens, so checking began.");
  assert.match(noted({ checked, start: { ...start, gain: -1 } }, about), /gain only 0\.00 tokens/);
  assert.equal(noted({ checked, start: { ...start, gain: null } }, about), "Guessed.");
  assert.equal(noted({ checked, start }, { header: { ...about.header, can_overlap: true } }),
    "Guessed. Checking started at once; the next draft step runs alongside.");
  const cut = (...committed) => noted({ checked, committed: committed.map((text) => tokenOf(text)) }, about);
  assert.equal(cut("a", "b"), "Guessed. The last token comes after the end of the answer and is dropped.");
  assert.equal(cut("a"), "Guessed. The last 2 tokens come after the end of the answer and are dropped.");
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
