// Tests of sentence.js: what goes on at a moment of an iteration, what happened in it, in at most 20 words, and its
// details; and of meanings.js, which explains words in it.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordings, tokenOf } from "../testing.js";
import { MEANINGS, placesToExplain } from "./meanings.js";
import { meanwhile, nodesOf, note, sentence, treeWords } from "./sentence.js";

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

test("a tree as a list", () => {
  const sibling = { ...wrong(" b"), parent: -1 };
  const iteration = iterationOf({ index: 4, checked: [...chain({ ...a, status: "accepted" }, own), sibling], drafted: [] });
  assert.equal(treeWords(iteration),
    `Tree of iteration 4. Checked: "a" accepted, "own" written by the large model, "b" rejected after the text before`);
  assert.equal(treeWords(iterationOf({ index: 5, checked: [], drafted: chain(begun("c"), begun("d")) })),
    `Tree of iteration 5. Guessed meanwhile: "c" unchecked, "d" unchecked`);
});

test("the target's token where no guess was checked", () => assertSaid([
  [[own], [], {}, `The large model wrote "own".`],
  [[own], [], { index: 0 }, `The large model read the prompt and wrote "own".`],
  [[ownNode("<|im_end|>")], [], {}, "The large model ended the answer."],
  [[], [], {}, "The large model wrote nothing new."],
  // What came too late was not checked.
  [[own], [begun("late")], {}, `The large model wrote "own".`],
]));

test("guesses one after another", () => assertSaid([
  [[...chain(a), own], [], {}, `✓ The guess was right: "a". The large model added "own".`],
  [[...chain(a, b), own], [], {}, `✓ Both guesses right: "a b". The large model added "own".`],
  [[...chain(a, b, c)], [], {}, `✓ All 3 guesses right: "a b c".`],
  [[...chain(a, wrong("b"), begun("c")), own], [], {}, `✓ First of 3 guesses right: "a". The large model wrote "own" instead of "b".`],
  [[...chain(wrong("a"), begun("b")), own], [], {}, `✗ First of 2 guesses wrong. The large model wrote "own" instead of "a".`],
  [[wrong("a"), own], [], {}, `✗ The guess "a" was wrong. The large model wrote "own".`],
  [[...chain(a, wrong("b")), ownNode("</s>")], [], {},
    `✓ First of 2 guesses right: "a". The large model ended the answer instead of "b".`],
]));

test("guesses in branches, and sequences that were drafted meanwhile", () => assertSaid([
  [[a, nodeOf(" b", { parent: 0 }), begun("x"), own], [], {},
    `✓ 2 guesses right, in one of 2 branches: "a b". The large model added "own".`],
  [[a, wrong("x"), begun("y"), own], [], {}, `✓ One of 3 first guesses was right: "a". The large model wrote "own" next.`],
  [[wrong("x"), wrong("y"), own], [], {}, `✗ None of 2 first guesses was right. The large model wrote "own".`],
  [[], [a], { outcome: "hit" }, `✓ The guess was right: "a".`],
  [[], [begun("x"), a], { outcome: "hit" }, `✓ One of 2 sequences began right: "a".`],
  [[], [wrong("x"), wrong("y"), own], { outcome: "miss" }, `✗ None of 2 sequences began right. The large model wrote "own".`],
  [[a], [b, begun("x")], { outcome: "hit" }, `✓ Both guesses right: "a b".`],
  [[a], [wrong("x"), own], { outcome: "miss" }, `✓ First of 2 guesses right: "a". The large model wrote "own" instead of "x".`],
  [[a], [wrong("x"), wrong("y"), own], { outcome: "miss" },
    `✓ First of 2 guesses right: "a". The large model wrote "own" next.`],
  [[wrong("a"), own], [begun("x")], { outcome: "rejection" }, `✗ The guess "a" was wrong. The large model wrote "own".`],
]));

test("the end of the answer is not part of the text, and a token after it is not written", () => assertSaid([
  [[...chain(a, nodeOf("<|im_end|>")), own], [], { committed: ["a", ""] }, `✓ Both guesses right: "a".`],
  [chain(nodeOf("</s>")), [], { committed: [""] }, "✓ The guess was right: the end of the answer."],
  [[wrong("</s>"), own], [], { outcome: "rejection" }, `✗ The guessed end of the answer was wrong. The large model wrote "own".`],
  [chain(a, nodeOf("b")), [], { committed: ["a"] }, `✓ Both guesses right; the answer ends after "a".`],
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
    [parallel, 0.5, {}, "The large model checks 2 pending tokens while the small one guesses ahead."],
    [parallel, 1.5, {}, "The large model checks 2 pending tokens while the small one guesses ahead: 1 guess so far."],
    [parallel, 2.5, {}, "The large model still checks 2 pending tokens; the small one has made 2 guesses and waits."],
    [headerOf({ about: { parallel: true }, target: { name: "L", device: "", borrows: true } }), 2.5, {},
      "The large model still checks 2 pending tokens; the small one has made 2 guesses and helps."],
    [parallel, 4.5, {}, "The large model is ready: the verdict follows."],
    [parallel, 4.2, { draft: [{ start: 0, end: 4.5, tokens: 2 }] }, "The large model is ready and waits for the small one: 1 guess so far."],
    [parallel, 0.5, { index: 0, checked: [] }, "The large model reads the prompt while the small one guesses ahead."],
    [parallel, 0.5, { checked: [own], draft: [], drafted: [] }, "The large model computes the next token."],
    [turns, 1.5, later, "The small model guesses, and the large one waits."],
    [turns, 2, later, "The large model checks 2 guesses in one forward pass."],
    [headerOf({ can_overlap: true }), 2, later, "The large model checks 2 guesses in one forward pass while the small one continues."],
    [turns, 3, { ...later, checked: [a] }, "The large model checks 1 guess in one forward pass."],
    [turns, 1, { ...later, checked: [], draft: [] }, "The large model computes the next token."],
  ];
  for (const [header, clock, more, words] of said) {
    assert.equal(meanwhile(iterationOf({ ...WORKING, ...more }), header, clock), words);
  }
});

const isWhole = (words, where) => {
  assert.match(words, /^([✓✗] )?[A-Z0-9].*\.$/s, where);
  assert.doesNotMatch(words, /undefined|null|NaN|\[object|\{\w/, where);
};

test("a recording's sentences are short and whole, and every iteration with guesses has a note", () => {
  for (const { header, iterations, end } of recordings()) {
    let before = 0;
    for (const iteration of iterations) {
      const { target, sync, index, committed } = iteration;
      const moments = [target.start, (target.start + target.end) / 2, sync];
      const during = moments.map((clock) => meanwhile(iteration, header, clock));
      for (const words of [sentence(iteration), ...during]) {
        const where = `${header.method}, iteration ${index}: ${words}`;
        isWhole(words, where);
        assert.ok(words.match(/[^\s✓✗]+/g).length <= MOST_WORDS, where);
      }
      const words = note(iteration, { header, end, before, last: iteration === iterations.at(-1) });
      before += committed.length;
      if (header.method !== "vanilla" || !index) isWhole(words);
      else assert.equal(words, "");
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

// The details.
const PARALLEL = { header: headerOf({ about: { parallel: true } }) };
const aboutOf = (about, more) => ({ header: headerOf({ about, ...more }) });
const noted = (iteration, about = {}) => note(
  iterationOf({ index: 1, committed: ["v", "w", "x", "y", "z"], ...iteration }),
  { header: headerOf(), end: null, before: 10, last: false, ...about });
const [first, second] = [nodeOf("a", { q: 0.5 }), nodeOf("b", { q: 0.25, parent: 0 })];
const window = nodeOf("w", { status: "window" });

test("what was proposed, in the method's own words", () => {
  const words = "{end} and {tokens:one|# tokens} in {branches:# branch|# branches} ({chances}){constructor}{else:c|d}";
  assert.equal(noted({ checked: [first, second, own], matched: { tokens: 2, text: " of the" } }, aboutOf({ verified: words })),
    `The last 2 tokens, "of the", and 2 tokens in 1 branch (0.50 for "a", 0.25 for "b").`);
  const several = { checked: ["a", "b", "c", "d"].map((text) => nodeOf(text, { q: 0.2 })) };
  assert.equal(noted(several, aboutOf({ verified: "{chances}" })), `0.20 for "a", 0.20 for "b", 0.20 for "c", ….`);
  const hostile = { checked: [nodeOf("{end};"), own], matched: { tokens: 1, text: " the" } };
  assert.equal(noted(hostile, aboutOf({ verified: words })), `The last token, "the", and one in 1 branch ().`);
  assert.equal(noted({ checked: [first, own] }, aboutOf({ verified: "{end}" })), "The end of the text.", "an older trace");
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
  assertSaid([[[own], [], { mode: "alone" }, `Nothing was guessed: the small model rests. The large one wrote "${own.text}".`]]);
});

test("the sequences that the draft started", () => {
  const said = [
    ["hit", [first, second, nodeOf("c", { q: 0.1 }), own], `The draft started 2 sequences (0.50 for "a", 0.10 for "c").`],
    ["hit", [nodeOf("a")], "The draft started 1 sequence."],
    ["rejection", [first], `The draft started 1 sequence (0.50 for "a"). Everything after a rejected token is dropped.`],
    ["none", [first], `The draft started 1 sequence (0.50 for "a"), too late to be checked.`],
    ["none", [], "The draft was still reading the prompt."], ["none", [], "The prompt has 36 tokens.", 0],
  ];
  for (const [outcome, drafted, words, index = 1] of said) {
    assert.equal(noted({ index, drafted, verdict: { outcome } }, PARALLEL), words);
  }
});

test("a window, the start of the check, and what the answer's end cuts off", () => {
  const [about, checked] = [aboutOf({ verified: "Guessed" }), [first, second, own]];
  const start = { gain: 0.08213, seconds: 0.001402, rate: 61.405 };
  const said = [
    [{ checked: [...checked, window, window] }, "In the same forward pass, a window of 2 tokens looked for new guesses."],
    [{ checked, start }, "Another draft step (1.4\u00a0ms) would gain only 0.08 tokens, so checking began."],
    [{ checked, start: { ...start, gain: -1 } }, "Another draft step (1.4\u00a0ms) would gain less than 0.01 tokens, so checking began."],
    [{ checked, start: { ...start, gain: null } }, ""],
    [{ checked, committed: ["a", "b"] }, "The last token comes after the end of the answer and is dropped."],
    [{ checked, committed: ["a"] }, "The last 2 tokens come after the end of the answer and are dropped."],
  ];
  for (const [iteration, words] of said) assert.equal(noted(iteration, about), `Guessed. ${words}`.trim());
  assert.match(noted({ checked, committed: ["a"] }, { ...about, last: true, end: { stopped: "length" } }), /after the limit/);
  assert.equal(noted({ checked, start }, aboutOf({ verified: "Guessed" }, { can_overlap: true })),
    "Guessed. Checking started at once; the next draft step runs alongside.");
});

test("each token that comes to the text was the next accepted node with its id, or the target's own", () => {
  const checked = [
    nodeOf("a", { id: 1 }), nodeOf("x", { id: 2, status: "rejected" }), nodeOf("a", { id: 1, parent: 0 }),
  ];
  const committed = [1, 9, 1, 2].map((id) => ({ id, text: "t", source: "draft", gap: null }));
  const at = nodesOf(iterationOf({ checked, drafted: [ownNode("c", { id: 2 })], committed }));
  assert.deepEqual(at.map((each) => each && `${each.list} ${each.index}`), ["checked 0", null, "checked 2", "drafted 0"]);
  for (const iteration of recordings().flatMap(({ iterations }) => iterations)) {
    const nodes = nodesOf(iteration);
    iteration.committed.forEach(({ id, source }, order) => {
      const node = nodes[order] && iteration[nodes[order].list][nodes[order].index];
      assert.ok(node ? node.id === id : source !== "draft");
    });
  }
});
