// Tests of rounds.js: rounds are true to the recording, and the same for a seed.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordingOf, tokenOf } from "../testing.js";
import { candidatesOf, OPTIONS, PLACES, ROUNDS, roundsOf, tokensOf } from "./rounds.js";

const SEEDS = Array.from({ length: 24 }, (_, seed) => seed);

// A second way to find out what the draft had: each token with a probability, by the ids of all tokens before it. The
// candidates come after the pending tokens, or after the text where nothing is pending.
function drawnAfter({ iterations }) {
  const [drawn, written] = [new Set(), []];
  const pathTo = (nodes, index, before) => (
    index < 0 ? before : [...pathTo(nodes, nodes[index].parent, before), nodes[index].id]
  );
  for (const { checked, rest = [], drafted, candidates, committed } of iterations) {
    const nodes = checked.concat(rest);
    const add = (list, before) => list.forEach(({ id, q, parent }) => {
      if (q !== null) drawn.add([...pathTo(list, parent, before), id].join());
    });
    const pending = checked.filter(({ status }) => status !== "correction").map(({ id }) => id);
    add(nodes, written);
    add(drafted, [...written, ...pending]);
    for (const { id } of candidates) {
      drawn.add([...written, id].join());
      drawn.add([...written, ...pending, id].join());
    }
    written.push(...committed.map(({ id }) => id));
  }
  return drawn;
}

for (const method of ["duotree", "duodecoding", "speculative"]) {
  test(`${method}: rounds are true to the recording, in its order, and the same for a seed`, () => {
    const trace = recordingOf(method);
    const [tokens, drawn] = [tokensOf(trace), drawnAfter(trace)];
    assert.equal(tokens.map(({ text }) => text).join(""), trace.end.text);
    const all = SEEDS.map((seed) => roundsOf(trace, seed).rounds);
    for (const rounds of all) {
      // None asks for what another has written.
      assert.ok(rounds.length && rounds.every(({ at }, index) => index === 0 || at - rounds[index - 1].at > PLACES));
      for (const { at, next, places } of rounds) {
        assert.deepEqual([places.length, next], [PLACES, tokens[at + PLACES]]);
        places.forEach(({ options, target, guess }, by) => {
          const before = tokens.slice(0, at + by).map(({ id }) => id);
          for (const { id, text } of options) assert.ok(drawn.has([...before, id].join()), `${text} at ${at + by}`);
          assert.equal(new Set(options.map(({ text }) => text)).size, options.length);
          assert.ok(options.length <= OPTIONS && options.includes(guess));
          assert.equal(guess.p, Math.max(...options.map(({ p }) => p)));
          assert.deepEqual(target, tokens[at + by]);
        });
      }
    }
    assert.deepEqual(roundsOf(trace, SEEDS[1]).rounds, all[1]);
    assert.ok(new Set(all.map((rounds) => JSON.stringify(rounds))).size > SEEDS.length / 2);
  });
}

test("DuoTree's recording has eight rounds with four options everywhere, whose order says nothing", () => {
  const trace = recordingOf("duotree");
  const ranks = Array(OPTIONS).fill(0);
  for (const seed of SEEDS) {
    const { rounds } = roundsOf(trace, seed);
    assert.equal(rounds.length, ROUNDS);
    for (const { options, guess } of rounds.flatMap(({ places }) => places)) {
      assert.equal(options.length, OPTIONS);
      ranks[options.indexOf(guess)] += 1;
    }
  }
  const all = SEEDS.length * ROUNDS * PLACES;
  for (const each of ranks) assert.ok(each > 0.18 * all && each < 0.32 * all, `${ranks}`);
});

test("a run without a draft has no rounds", () => {
  for (const method of ["vanilla", "prompt_lookup", "rest", "lookahead"]) {
    assert.deepEqual(roundsOf(recordingOf(method), 1).rounds, []);
  }
});

// A token whose id is its text's, as nodes of the same text are the same token.
const withId = (made) => ({ ...made, id: [...made.text].reduce((sum, letter) => 31 * sum + letter.codePointAt(0), 7) });
const node = (text, more) => withId(nodeOf(text, more));
const unused = (text, more) => node(text, { status: "discarded", ...more });
const own = (text, more) => withId(ownNode(text, more));
const token = (text) => withId(tokenOf(text));
const candidate = (text, p) => withId({ text, p, over: false });
const namesOf = (places) => places.map((options) => options.map(({ text }) => text));

test("siblings in a tree are options where the text has their parent, and found or own tokens are none", () => {
  const iteration = iterationOf({
    committed: [token(" a"), token(" b"), token(" c")],
    checked: [
      node(" a", { q: 0.5 }), unused(" x", { q: 0.3 }), node(" b", { q: 0.2, parent: 0 }),
      unused(" y", { q: 0.9, parent: 1 }), unused(" found", { source: "prompt", parent: 0 }), own(" c", { parent: 2 }),
    ],
    rest: [unused(" z", { q: 0.4, parent: 0 }), unused(" w", { q: 0.1, parent: 6 })],
  });
  const places = candidatesOf({ header: headerOf(), iterations: [iteration] });
  assert.deepEqual(namesOf(places), [[" a", " x"], [" z", " b"], []]);
});

test("what a parallel draft went on with comes after the pending tokens, if they are right", () => {
  const header = headerOf({ about: { parallel: true } });
  const made = (text, status) => iterationOf({
    committed: [token(text), token(" b")], candidates: [candidate(" b", 0.6), candidate(" d", 0.2)],
    checked: [node(" a", { q: 0.7, status })], drafted: [node(" b", { q: 0.6 }), unused(" e", { q: 0.1 })],
  });
  const places = (text, status) => namesOf(candidatesOf({ header, iterations: [made(text, status)] }));
  assert.deepEqual(places(" a", "accepted"), [[" a"], [" b", " d", " e"]]);
  assert.deepEqual(places(" x", "rejected"), [[" a"], []]);
});

test("fewer than four candidates are shown as they are, and half a character is never asked for", () => {
  const words = [" a", " b", " c", " d"];
  const made = (text) => iterationOf({
    committed: [token(text)], candidates: [candidate(text, 0.4), candidate(" no", 0.2)],
  });
  const rounds = (texts) => roundsOf({ header: headerOf(), iterations: texts.map(made) }, 1).rounds;
  const [{ at, places, next }] = rounds(words);
  assert.deepEqual([at, places.map(({ options }) => options.length), next.text], [0, [2, 2, 2], " d"]);
  assert.deepEqual(rounds([" a", "\ufffd", " c", " d"]), []);
  assert.deepEqual(rounds(words.slice(0, PLACES)), []);
});

test("a token without a text is called what its node is called", () => {
  const iteration = iterationOf({ committed: [{ ...token("<|im_end|>"), text: "" }], checked: [own("<|im_end|>")] });
  assert.deepEqual(tokensOf({ iterations: [iteration] }).map(({ text, name }) => [text, name]), [["", "<|im_end|>"]]);
});
