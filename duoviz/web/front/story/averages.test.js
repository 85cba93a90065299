// Tests of averages.js: what is said of many prompts, and where the order is another.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf } from "../testing.js";
import { barsOf, wordsOf } from "./averages.js";

const HEADER = headerOf({ target: { name: "L", device: "CPU core 1", cpu: true }, about: { title: "DuoDecoding", parallel: true } });
const of = (phi, paper) => ({ phi, noise: 0.1, n: 28, tasks: [1.03, 1.78], paper });
const AVERAGES = { DuoDecoding: of(1.41, [1.58, 2.61]), SpS: of(1.83, [1.42, 1.8]) };
const MEAN = "Other prompts: 1.03 to 1.78 times by their kind, 1.41 on average.";

test("where taking turns is faster here, why, and what the paper gave", () => {
  const said = (averages) => wordsOf(HEADER, averages);
  const inTurn = `${MEAN} Here both models share one processor, so taking turns (SpS) is faster: 1.83.`;
  assert.equal(said(AVERAGES), `${inTurn} DuoDecoding is made for a large model on a GPU, where the paper found it faster; none that large was measured here.`);
  assert.equal(said({ ...AVERAGES, SpS: of(1.83, [1.42, 2.7]) }), inTurn);
  assert.equal(said({ ...AVERAGES, SpS: of(1.3, [1.42, 1.8]) }), MEAN);
  assert.deepEqual([said({}), wordsOf({ ...HEADER, about: { title: "PLD" } }, AVERAGES)], ["", ""]);
});

test("the same as bars: what was not measured has none, and the words are only why", () => {
  const [all, some] = [AVERAGES, { DuoDecoding: AVERAGES.DuoDecoding }].map((averages) => barsOf(HEADER, averages));
  const shown = ({ bars }) => bars.map(([name, { phi }, method]) => [name, phi, method]);
  const [alone, own] = [["Large model alone", 1, "vanilla"], ["DuoDecoding", 1.41, HEADER.method]];
  assert.deepEqual(shown(all), [["SpS, taking turns", 1.83, "speculative"], own, alone]);
  assert.deepEqual([shown(some), some.why], [[own, alone], ""]);
  assert.match(all.title, /28 prompts/);
  assert.match(all.why, /^Here both models share .* measured here\.$/);
  assert.equal(barsOf(HEADER, {}), null);
});
