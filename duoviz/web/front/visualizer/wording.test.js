// Tests of wording.js: what became of the proposals, in the words of each method.

import assert from "node:assert/strict";
import test from "node:test";
import { iterationOf, nodeOf, ownNode, recordingOf, tokenOf } from "../testing.js";
import { listChances, ownText, proposalsOf, verifiedSentence } from "./wording.js";

const wordsOf = (method) => recordingOf(method).header.about.verified;
const rejected = (text, more) => nodeOf(text, { status: "rejected", ...more });
const discarded = (text, more) => nodeOf(text, { status: "discarded", ...more });

// What the target made of the proposals; the target's own token comes last.
const verified = (proposals, own = "c", more = {}) => (
  iterationOf({ checked: [...proposals, ownNode(own)], committed: [own], ...more })
);
const targetDid = (...proposals) => verifiedSentence("{target}", verified(proposals));

test("proposals are neither the target's own nor a window's", () => {
  const [a, b] = [nodeOf("a"), rejected("b")];
  const checked = [a, b, nodeOf("w", { status: "window" }), ownNode("c")];
  assert.deepEqual(proposalsOf(iterationOf({ checked })), [a, b]);
});

test("the target's own token, which its node names", () => {
  assert.equal(ownText(iterationOf({ checked: [ownNode("<|im_end|>")], committed: [""] })), "the end of the answer");
  assert.equal(ownText(iterationOf({ committed: ["a", " b"] })), `"b"`);
  assert.equal(ownText(iterationOf()), `""`);
});

test("with how much the target agreed", () => {
  const [a, b] = [nodeOf("a"), nodeOf("b", { parent: 0 })];
  assert.equal(targetDid(a), `the target agreed with it and added "c"`);
  assert.equal(targetDid(a, b), `the target agreed with all and added "c"`);
  assert.equal(targetDid(a, rejected("b")), `the target agreed with 1 and then wrote "c" instead of "b"`);
  assert.equal(targetDid(rejected("a")), `the target did not agree with it and wrote "c" instead of "a"`);
  assert.equal(targetDid(rejected("a"), discarded("b")), `the target agreed with none and wrote "c" instead of "a"`);
  assert.equal(targetDid(rejected("a"), rejected("b")), `the target agreed with none and wrote "c" instead`);
});

test("an answer may end with a proposal", () => {
  const checked = [nodeOf("a"), nodeOf("b", { parent: 0 })];
  const committed = [tokenOf("a", "draft"), tokenOf("b", "draft")];
  const iteration = iterationOf({ checked, committed });
  assert.equal(verifiedSentence("{target}", iteration), "the target agreed with all, and the text ends there");
});

test("SpS", () => {
  const iteration = verified([nodeOf(" a", { q: 0.5 }), rejected(" b", { q: 0.25, parent: 0 })]);
  assert.equal(verifiedSentence(wordsOf("speculative"), iteration),
    `The draft proposed 2 tokens (0.50 for "a", 0.25 for "b"); `
    + `the target agreed with 1 and then wrote "c" instead of "b"`);
});

test("PLD, with the end of the text that was found", () => {
  const iteration = verified([nodeOf("a")], "c", { matched: { tokens: 2, text: " of the" } });
  assert.equal(verifiedSentence(wordsOf("prompt_lookup"), iteration),
    `The last 2 tokens, "of the", stood earlier in the text; `
    + `one token followed there, and the target agreed with it and added "c"`);
  const two = verified([nodeOf("a"), nodeOf("b", { parent: 0 })], "c", { matched: { tokens: 1, text: " the" } });
  assert.equal(verifiedSentence(wordsOf("prompt_lookup"), two), `The last token, "the", stood earlier in the text; `
    + `of the 2 tokens that followed there, the target agreed with all and added "c"`);
});

test("REST, in branches", () => {
  // Two of the three end a branch; an older trace does not say what was found.
  const tree = [nodeOf("a"), nodeOf("b", { parent: 0 }), discarded("x")];
  assert.equal(verifiedSentence(wordsOf("rest"), verified(tree)),
    `The end of the text stood in the datastore, followed by 3 tokens in 2 branches; `
    + `the target agreed with 2 and added "c"`);
});

test("Lookahead, by how much of a guess", () => {
  const chain = [nodeOf("a"), nodeOf("b", { parent: 0 })];
  assert.equal(verifiedSentence(wordsOf("lookahead"), verified(chain)), "1 guess kept from before was checked; "
    + `the target agreed with 2 tokens of it and added "c"`);
  const branches = [nodeOf("a"), discarded("x")];
  assert.equal(verifiedSentence(wordsOf("lookahead"), verified(branches)), "2 guesses kept from before were checked; "
    + `the target agreed with 1 token of one and added "c"`);
});

test("chances, three at most", () => {
  const nodes = ["a", "b", "c", "d"].map((text) => nodeOf(text, { q: 0.2 }));
  assert.equal(listChances(nodes.slice(0, 1)), `0.20 for "a"`);
  assert.equal(listChances(nodes), `0.20 for "a", 0.20 for "b", 0.20 for "c", …`);
  assert.equal(listChances([nodeOf("a"), nodes[1]]), `0.20 for "b", …`, "one without a chance is only hinted at");
  assert.equal(listChances([nodeOf("a")]), "");
  assert.equal(listChances([]), "");
});

test("places in a model's own text are text, and unknown places are nothing", () => {
  const iteration = verified([nodeOf("{end}", { q: 0.5 })], "$&");
  assert.equal(verifiedSentence("{chances}; {target}", iteration),
    `0.50 for "{end}"; the target agreed with it and added "$&"`);
  assert.equal(verifiedSentence("a{constructor}b{else:c|d}", iteration), "ab");
});
