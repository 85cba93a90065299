// Tests of sentence.js: what happened in an iteration, in at most 20 words.

import assert from "node:assert/strict";
import test from "node:test";
import { iterationOf, nodeOf, ownNode, recordings, tokenOf } from "../testing.js";
import { meanwhile } from "./meanwhile.js";
import { sentence } from "./sentence.js";

const MOST_WORDS = 20;
const own = ownNode("own");
const begun = (text, status = "discarded") => nodeOf(text, { status });
const wrong = (text) => nodeOf(text, { status: "rejected" });
const chain = (...nodes) => nodes.map((node, index) => ({ ...node, parent: index - 1 }));
const said = (checked, drafted = [], { outcome, committed = ["x"], ...more } = {}) => sentence(iterationOf({
  index: 1, checked, drafted, verdict: { outcome: outcome ?? "none" }, ...more,
  committed: committed === "all" ? [...checked, ...drafted].map(({ text }) => text) : committed,
}));
const whole = { committed: "all" };

test("the target's token where no guess was checked", () => {
  assert.equal(said([own]), `The target wrote "own".`);
  assert.equal(said([own], [], { index: 0 }), `The target read the prompt and wrote "own".`);
  assert.equal(said([ownNode("<|im_end|>")]), "The target ended the answer.");
  assert.equal(said([], [], { committed: [] }), "The target wrote nothing new.");
  assert.equal(said([own], [begun("late")]), `The target wrote "own".`, "what came too late was not checked");
});

test("guesses one after another", () => {
  const [a, b, c] = ["a", " b", " c"].map((text) => nodeOf(text));
  assert.equal(said([...chain(a), own], [], whole), `✓ The guess was right: "a". The target added "own".`);
  assert.equal(said([...chain(a, b), own], [], whole), `✓ Both guesses right: "a b". The target added "own".`);
  assert.equal(said([...chain(a, b, c)], [], whole), `✓ All 3 guesses right: "a b c".`);
  assert.equal(said([...chain(a, wrong("b"), begun("c")), own], [], whole),
    `✓ 1 of 3 guesses right: "a". The target wrote "own" instead of "b".`);
  assert.equal(said([...chain(wrong("a"), begun("b")), own], [], whole),
    `✗ None of 2 guesses right. The target wrote "own" instead of "a".`);
  assert.equal(said([wrong("a"), own], [], whole), `✗ The guess "a" was wrong. The target wrote "own".`);
  assert.equal(said([...chain(a, wrong("b")), ownNode("</s>")], [], whole),
    `✓ 1 of 2 guesses right: "a". The target ended the answer instead of "b".`);
});

test("guesses in branches", () => {
  const [a, b] = [nodeOf("a"), nodeOf(" b", { parent: 0 })];
  assert.equal(said([a, b, begun("x"), own], [], whole),
    `✓ 2 guesses right, in one of 2 branches: "a b". The target added "own".`);
  assert.equal(said([a, wrong("x"), begun("y"), own], [], whole),
    `✓ One of 3 branches began right: "a". The target wrote "own" instead.`);
  assert.equal(said([wrong("x"), wrong("y"), own], [], whole),
    `✗ None of 2 branches began right. The target wrote "own".`);
});

test("sequences that were drafted meanwhile", () => {
  const [hit, miss, rejection] = ["hit", "miss", "rejection"].map((outcome) => ({ outcome, committed: "all" }));
  assert.equal(said([], [nodeOf("a")], hit), `✓ The guess was right: "a".`);
  assert.equal(said([], [begun("x"), nodeOf("a")], hit), `✓ One of 2 sequences began right: "a".`);
  assert.equal(said([], [wrong("x"), wrong("y"), own], miss),
    `✗ None of 2 sequences began right. The target wrote "own".`);
  assert.equal(said([nodeOf("a")], [nodeOf(" b"), begun("x")], hit), `✓ Both guesses right: "a b".`);
  assert.equal(said([nodeOf("a")], [wrong("x"), own], miss),
    `✓ 1 of 2 guesses right: "a". The target wrote "own" instead of "x".`);
  assert.equal(said([nodeOf("a")], [wrong("x"), wrong("y"), own], miss),
    `✓ 1 of 2 guesses right: "a". The target wrote "own" instead.`);
  assert.equal(said([wrong("a"), own], [begun("x")], rejection), `✗ The guess "a" was wrong. The target wrote "own".`);
});

test("the end of the answer is not part of the text, and a token after it is not written", () => {
  const checked = chain(nodeOf("a"), nodeOf("<|im_end|>"));
  assert.equal(said([...checked, own], [], { committed: ["a", ""] }), `✓ Both guesses right: "a".`);
  assert.equal(said(chain(nodeOf("</s>")), [], { committed: [""] }), "✓ The guess was right: the end of the answer.");
  assert.equal(said([nodeOf("{end}"), own], [], { committed: [tokenOf("{end}", "draft")] }),
    `✓ The guess was right: "{end}".`);
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
