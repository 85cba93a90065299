// Tests of rounds.js: rounds are true to the recording, and the same for a seed.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordingOf, tokenOf } from "../testing.js";
import { candidatesOf, OPTIONS, PLACES, ROUNDS, roundsOf, tokensOf } from "./rounds.js";
import { costsOf } from "./score.js";

const SEEDS = Array.from({ length: 24 }, (_, seed) => seed);

test("the recording has eight rounds with four options everywhere, in its order, the same for a seed", () => {
  const trace = recordingOf("duotree", "game");
  const [tokens, ranks] = [tokensOf(trace), Array(OPTIONS).fill(0)];
  assert.equal(tokens.map(({ text }) => text).join(""), trace.end.text);
  assert.ok(costsOf(trace.header).forward(4) > 0);
  const all = SEEDS.map((seed) => roundsOf(trace, seed).rounds);
  for (const rounds of all) {
    assert.equal(rounds.length, ROUNDS);
    // None asks for what another has written.
    assert.ok(rounds.every(({ at }, index) => index === 0 || at - rounds[index - 1].at > PLACES));
    for (const { at, next, places } of rounds) {
      assert.deepEqual([...places.map(({ target }) => target), next], tokens.slice(at, at + PLACES + 1));
      for (const { options, guess } of places) {
        assert.equal(new Set(options.map(({ text }) => text)).size, OPTIONS);
        assert.equal(guess.p, Math.max(...options.map(({ p }) => p)));
        ranks[options.indexOf(guess)] += 1;
      }
    }
  }
  assert.deepEqual(roundsOf(trace, SEEDS[1]).rounds, all[1]);
  assert.ok(new Set(all.map((rounds) => JSON.stringify(rounds))).size > SEEDS.length / 2);
  // The options' order says nothing of which is the likeliest.
  const many = SEEDS.length * ROUNDS * PLACES;
  for (const each of ranks) assert.ok(each > 0.18 * many && each < 0.32 * many, `${ranks}`);
});

// A token whose id is its text's, as nodes of the same text are the same token.
const withId = (made) => ({ ...made, id: [...made.text].reduce((sum, letter) => 31 * sum + letter.codePointAt(0), 7) });
const node = (text, more) => withId(nodeOf(text, more));
const unused = (text, more) => node(text, { status: "discarded", ...more });
const own = (text, more) => withId(ownNode(text, more));
const token = (text) => withId(tokenOf(text));
const candidate = (text, p) => withId({ text, p, over: false });

test("candidates come first, nodes where the text has all before them; what was found or is the target's is no option", () => {
  const iterations = [iterationOf({
    committed: [token(" a"), token(" b"), token(" c")], candidates: [candidate(" a", 0.5), candidate(" o", 0.4)],
    checked: [
      node(" a", { q: 0.5 }), unused(" x", { q: 0.3 }), node(" b", { q: 0.2, parent: 0 }),
      unused(" y", { q: 0.9, parent: 1 }), unused(" found", { source: "prompt", parent: 0 }), own(" c", { parent: 2 }),
    ],
    rest: [unused(" z", { q: 0.4, parent: 0 }), unused(" w", { q: 0.1, parent: 6 })],
  })];
  const places = candidatesOf({ iterations }, tokensOf({ iterations }));
  assert.deepEqual(places.map((options) => options.map(({ text }) => text)), [[" a", " o", " x"], [" z", " b"], []]);
});

test("half a character is never asked for", () => {
  const made = (text) => iterationOf({
    committed: [token(text)], candidates: [text, " no", " nor", " never"].map((each) => candidate(each, 0.2)),
  });
  const count = (...texts) => roundsOf({ header: headerOf(), iterations: texts.map(made) }, 1).rounds.length;
  assert.deepEqual([count(" a", " b", " c", " d"), count(" a", "\ufffd", " c", " d"), count(" a", " b", " c")], [1, 0, 0]);
});

test("a token without a text is called what its node is called", () => {
  const iteration = iterationOf({ committed: [{ ...token("<|im_end|>"), text: "" }], checked: [own("<|im_end|>")] });
  assert.deepEqual(tokensOf({ iterations: [iteration] }).map(({ text, name }) => [text, name]), [["", "<|im_end|>"]]);
});
