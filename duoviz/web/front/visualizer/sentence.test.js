// Tests of sentence.js: what goes on at a moment of an iteration, and what happened in it, in at most 20 words; and of
// meanings.js, which explains words in it.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings, tokenOf } from "../testing.js";
import { MEANINGS, placesToExplain } from "./meanings.js";
import { meanwhile, sentence } from "./sentence.js";

const MOST_WORDS = 20;
const own = ownNode("own");
const begun = (text, status = "discarded") => nodeOf(text, { status });
const wrong = (text) => nodeOf(text, { status: "rejected" });
const chain = (...nodes) => nodes.map((node, index) => ({ ...node, parent: index - 1 }));
const [a, b, c] = ["a", " b", " c"].map((text) => nodeOf(text));

// Of nodes checked, and drafted meanwhile: what is said. All of them are written, unless `committed` says otherwise.
function assertSaid(cases) {
  for (const [checked, drafted, { outcome = "none", ...more }, words] of cases) {
    const committed = [...checked, ...drafted].map(({ text }) => text);
    const iteration = iterationOf({ index: 1, checked, drafted, committed, verdict: { outcome }, ...more });
    assert.equal(sentence(iteration), words);
  }
}

test("the target's token where no guess was checked", () => assertSaid([
  [[own], [], {}, `The target wrote "own".`],
  [[own], [], { index: 0 }, `The target read the prompt and wrote "own".`],
  [[ownNode("<|im_end|>")], [], {}, "The target ended the answer."],
  [[], [], {}, "The target wrote nothing new."],
  // What came too late was not checked.
  [[own], [begun("late")], {}, `The target wrote "own".`],
]));

test("guesses one after another", () => assertSaid([
  [[...chain(a), own], [], {}, `✓ The guess was right: "a". The target added "own".`],
  [[...chain(a, b), own], [], {}, `✓ Both guesses right: "a b". The target added "own".`],
  [[...chain(a, b, c)], [], {}, `✓ All 3 guesses right: "a b c".`],
  [[...chain(a, wrong("b"), begun("c")), own], [], {}, `✓ 1 of 3 guesses right: "a". The target wrote "own" instead of "b".`],
  [[...chain(wrong("a"), begun("b")), own], [], {}, `✗ None of 2 guesses right. The target wrote "own" instead of "a".`],
  [[wrong("a"), own], [], {}, `✗ The guess "a" was wrong. The target wrote "own".`],
  [[...chain(a, wrong("b")), ownNode("</s>")], [], {},
    `✓ 1 of 2 guesses right: "a". The target ended the answer instead of "b".`],
]));

test("guesses in branches, and sequences that were drafted meanwhile", () => assertSaid([
  [[a, nodeOf(" b", { parent: 0 }), begun("x"), own], [], {},
    `✓ 2 guesses right, in one of 2 branches: "a b". The target added "own".`],
  [[a, wrong("x"), begun("y"), own], [], {}, `✓ One of 3 branches began right: "a". The target wrote "own" instead.`],
  [[wrong("x"), wrong("y"), own], [], {}, `✗ None of 2 branches began right. The target wrote "own".`],
  [[], [a], { outcome: "hit" }, `✓ The guess was right: "a".`],
  [[], [begun("x"), a], { outcome: "hit" }, `✓ One of 2 sequences began right: "a".`],
  [[], [wrong("x"), wrong("y"), own], { outcome: "miss" }, `✗ None of 2 sequences began right. The target wrote "own".`],
  [[a], [b, begun("x")], { outcome: "hit" }, `✓ Both guesses right: "a b".`],
  [[a], [wrong("x"), own], { outcome: "miss" }, `✓ 1 of 2 guesses right: "a". The target wrote "own" instead of "x".`],
  [[a], [wrong("x"), wrong("y"), own], { outcome: "miss" },
    `✓ 1 of 2 guesses right: "a". The target wrote "own" instead.`],
  [[wrong("a"), own], [begun("x")], { outcome: "rejection" }, `✗ The guess "a" was wrong. The target wrote "own".`],
]));

test("the end of the answer is not part of the text, and a token after it is not written", () => assertSaid([
  [[...chain(a, nodeOf("<|im_end|>")), own], [], { committed: ["a", ""] }, `✓ Both guesses right: "a".`],
  [chain(nodeOf("</s>")), [], { committed: [""] }, "✓ The guess was right: the end of the answer."],
  [[nodeOf("{end}"), own], [], { committed: [tokenOf("{end}", "draft")] }, `✓ The guess was right: "{end}".`],
]));

// The target works from 0 to 4, the draft's two steps end at 1 and 2, and the iteration at 5.
const WORKING = {
  index: 1, target: { start: 0, end: 4, rows: 2 }, sync: 5,
  draft: [{ start: 0, end: 1, tokens: 1 }, { start: 1, end: 2, tokens: 1 }],
  checked: [a, b, own], drafted: [nodeOf("x", { status: "pending" }), nodeOf("y", { status: "pending", parent: 0 })],
};

test("what goes on, in parallel and in turn", () => {
  const [parallel, turns] = [headerOf({ about: { parallel: true }, can_overlap: true }), headerOf()];
  const later = { target: { start: 2, end: 4, rows: 3 }, drafted: [] };
  const said = [
    [parallel, 0.5, {}, "The target checks 2 pending tokens while the draft guesses ahead."],
    [parallel, 1.5, {}, "The target checks 2 pending tokens while the draft guesses ahead: 1 guess so far."],
    [parallel, 2.5, {}, "The target still checks 2 pending tokens; the draft has made 2 guesses and waits."],
    [parallel, 4.5, {}, "The target is ready and waits for the draft: 2 guesses so far."],
    [parallel, 0.5, { index: 0, checked: [] }, "The target reads the prompt while the draft guesses ahead."],
    [parallel, 0.5, { checked: [own], draft: [], drafted: [] }, "The target computes the next token."],
    [turns, 1.5, later, "The draft guesses, and the target waits."],
    [turns, 2, later, "The target checks 2 guesses in one forward pass."],
    [headerOf({ can_overlap: true }), 2, later, "The target checks 2 guesses in one forward pass while the draft continues."],
    [turns, 3, { ...later, checked: [a] }, "The target checks 1 guess in one forward pass."],
    [turns, 1, { ...later, checked: [], draft: [] }, "The target computes the next token."],
  ];
  for (const [header, clock, more, words] of said) {
    assert.equal(meanwhile(iterationOf({ ...WORKING, ...more }), header, clock), words);
  }
});

test("a recording's sentences are short and whole", () => {
  for (const { header, iterations } of recordings()) {
    for (const iteration of iterations) {
      const { target, sync } = iteration;
      const moments = [target.start, (target.start + target.end) / 2, sync];
      const during = moments.map((clock) => meanwhile(iteration, header, clock));
      for (const words of [sentence(iteration), ...during]) {
        const where = `${header.method}, iteration ${iteration.index}: ${words}`;
        assert.match(words, /^([✓✗] )?[A-Z0-9].*\.$/s, where);
        assert.doesNotMatch(words, /undefined|null|NaN|\[object|\{\w/, where);
        assert.ok(words.split(/\s+/).length <= MOST_WORDS, where);
      }
    }
  }
});

test("the first place of each word that needs it is explained, in the text's order", () => {
  const text = "Only one token was over the threshold, so 1 sequence started; 2 sequences have a threshold.";
  const places = placesToExplain(text).map(([begin, end, meaning]) => [begin, text.slice(begin, end), meaning]);
  assert.deepEqual(places.map(([begin, word]) => [begin, word]),
    [[text.indexOf("threshold"), "threshold"], [text.indexOf("sequence"), "sequence"]]);
  assert.equal(places[0][2], MEANINGS.theta[1]);
  assert.match(places[1][2], /^A sequence: /);
  assert.deepEqual(placesToExplain("subsequences have consequences, thresholds too"), []);
});
