// Tests of in_turn.js: iterations of methods that propose first and verify then, and of the target alone.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, tokenOf } from "../testing.js";
import { inTurnSentence } from "./in_turn.js";

const HEADER = headerOf();
const ALONE = headerOf({ about: { proposers: [] } });
const said = (iteration, about = {}) => (
  inTurnSentence(iterationOf({ index: 1, ...iteration }),
    { header: HEADER, end: null, before: 10, last: false, ...about })
);

const own = { checked: [ownNode("x")], committed: ["x"] };
const proposed = { checked: [nodeOf("a"), ownNode("x")], committed: [tokenOf("a", "draft"), "x"] };
const AGREED = `The draft proposed 1 token; the target agreed with it and added "x".`;

test("the target alone", () => {
  assert.equal(said({ ...own, index: 0 }, { header: ALONE }),
    `The target read the prompt (36 tokens) and computed one token: "x".`);
  assert.equal(said(own, { header: ALONE }), `The target computed one token: "x".`);
  assert.equal(said({}, { header: ALONE }), "The target computed no new token.");
});

test("proposals, with the prompt or after it", () => {
  assert.equal(said(proposed), AGREED);
  assert.equal(said({ ...proposed, index: 0 }), `The target read the prompt (36 tokens). ${AGREED}`);
  assert.equal(said({ ...own, index: 0 }), `The target read the prompt (36 tokens) and computed one token: "x".`);
});

test("why nothing was proposed", () => {
  const [nothing, full] = ["Nothing was proposed", "There was room for one token only"]
    .map((why) => `${why}, so the target wrote one token: "x".`);
  assert.equal(said(own), nothing);
  assert.equal(said(own, { before: 126 }), nothing);
  assert.equal(said(own, { before: 127 }), full);
  assert.equal(said(own, { last: true, end: { stopped: "context" } }), full);
  assert.equal(said(own, { last: true, end: { stopped: "eos" } }), nothing);
  assert.equal(said(own, { end: { stopped: "context" } }), nothing, "the context was not full yet");
});

test("a window that looks for guesses", () => {
  const window = [1, 2].map(() => nodeOf("w", { status: "window" }));
  assert.equal(said({ ...own, checked: [...own.checked, ...window] }),
    `Nothing was proposed, so the target wrote one token: "x". `
    + "In the same forward, a window of 2 tokens looked for new guesses.");
});

test("why the check began when it did", () => {
  const start = { gain: 0.08213, seconds: 0.001402, rate: 61.405 };
  assert.equal(said({ ...proposed, start }),
    `${AGREED} Another draft step (1.4 ms) would gain only 0.08 tokens, so checking began.`);
  const beside = { header: headerOf({ can_overlap: true }) };
  assert.equal(said({ ...proposed, start }, beside),
    `${AGREED} Checking started at once; the next draft step runs alongside.`);
  assert.match(said({ ...proposed, start: { ...start, gain: -1 } }), /gain only 0\.00 tokens/);
  assert.equal(said({ ...proposed, start: { ...start, gain: null } }), AGREED);
});
