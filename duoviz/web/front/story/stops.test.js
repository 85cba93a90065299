// Tests of the story: what it finds in the recorded runs, what it leaves out, and the clock of its stops.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, iterationOf, nodeOf, ownNode, recordingOf, tokenOf } from "../testing.js";
import { duration } from "../visualizer/words.js";
import { firstOf, slowerOf, stopsOf, tailBefore } from "./stops.js";
import { createScore, createScript } from "./teller.js";

const [TOLD, ALONE] = ["duodecoding", "vanilla"].map((method) => recordingOf(method));
const byKind = (stops) => Object.fromEntries(stops.map((stop) => [stop.kind, stop]));
const textsOf = (tokens) => tokens.map(({ text }) => text).join("");
const wordsOf = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

test("the recorded runs tell all seven stops, in few words", () => {
  const stops = stopsOf(TOLD, ALONE);
  assert.deepEqual(stops.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7]);
  for (const { words, title, seen } of stops) assert.ok(wordsOf(words) <= 25 && title && seen.endsWith("."), words);
});

test("the guesses of one stop are what the next two check, and what is read there is the text", () => {
  const { guess, right, wrong } = byKind(stopsOf(TOLD, ALONE));
  assert.equal(guess.iteration.verdict.outcome, "hit");
  assert.deepEqual([right.iteration, wrong.iteration], Array(2).fill(TOLD.iterations[guess.iteration.index + 1]));
  const waiting = guess.iteration.drafted.filter(({ status }) => status === "pending");
  const checked = right.iteration.checked.filter(({ status }) => status !== "correction");
  assert.equal(textsOf(waiting), textsOf(checked));
  assert.ok(right.accepted > 1 && checked.some(({ status }) => status === "rejected"));
  const written = textsOf([...wrong.tail.tokens, ...wrong.iteration.committed]);
  assert.ok(TOLD.end.text.includes(written));
  assert.equal(textsOf(wrong.alone.tokens), written);
  // What the wrong guess takes with it: as many tokens as stand in the recording as such.
  const { checked: both, drafted } = wrong.iteration;
  const lost = [both.filter(({ status }) => status === "discarded"), drafted].map(({ length }) => length);
  const told = [...wrong.lost.matchAll(/(\d+) guess(?:es)? (after|made)/g)].map(([, number]) => Number(number));
  assert.deepEqual(told, lost.filter(Boolean));
  assert.ok(wrong.lost.includes(both.find(({ status }) => status === "rejected").text.trim()));
});

test("one beginning where the draft was sure, several where it was not, and θ between the bars", () => {
  const { parts: [sure, unsure] } = byKind(stopsOf(TOLD, ALONE)).several;
  assert.ok(sure.iteration.sequences === 1 && unsure.iteration.sequences > 1);
  for (const { iteration, candidates, nodes, sum } of [sure, unsure]) {
    const [best, next] = sum.match(/[01]\.\d+/g).map(Number);
    assert.equal(best, Number(candidates[0].p.toFixed(4)));
    assert.ok(Math.abs(best * next - iteration.theta) < 0.0002, sum);
    // Of long sequences the first four tokens, each after its own parent.
    const path = (list, at) => (at < 0 ? [] : [...path(list, list[at].parent), list[at].text]);
    const paths = (list) => list.filter(({ status }) => status !== "correction").map((node) => path(list, list.indexOf(node)));
    assert.deepEqual(paths(nodes), paths(iteration.drafted).filter(({ length }) => length <= 4));
    const over = candidates.filter(({ p }) => p > iteration.theta);
    assert.deepEqual(over.map(({ id }) => id), nodes.filter(({ parent }) => parent < 0).map(({ id }) => id));
  }
});

const AVERAGE = { title: "Over many prompts", bars: [["DuoDecoding", { phi: 1.41 }]], why: "" };

test("the race has both runs' measured speeds and what was measured otherwise, and how many times as fast one is", () => {
  const { race, cheap } = byKind(stopsOf(TOLD, ALONE, AVERAGE));
  assert.equal(race.average, AVERAGE);
  assert.deepEqual(race.sides.map(({ tokens, passes }) => [tokens.length, passes]),
    [TOLD, ALONE].map(({ iterations }) => [ALONE.iterations.length, iterations.length]));
  const costs = TOLD.header.calibration.target.filter(([rows]) => [1, 8].includes(rows)).map(([, seconds]) => seconds);
  assert.deepEqual([cheap.one, cheap.many, cheap.rows], [...costs, 8]);
  // The told run so many times as fast as the other one.
  const paced = (speed, alone = ALONE) => {
    const pace = alone.iterations.at(-1).sync / TOLD.iterations.at(-1).sync / speed;
    const iterations = TOLD.iterations.map((each) => ({ ...each, sync: pace * each.sync }));
    return byKind(stopsOf({ ...TOLD, iterations }, alone)).race.words;
  };
  // Of the passes after the one that reads the prompt.
  const each = ([first, ...rest]) => (rest.at(-1).sync - first.sync) / rest.length;
  const theirs = each(ALONE.iterations);
  for (const speed of [0.5, 1.04, 2.5]) {
    const ours = each(TOLD.iterations) * ALONE.iterations.at(-1).sync / TOLD.iterations.at(-1).sync / speed;
    const [own, other] = [TOLD, ALONE].map(({ iterations }) => iterations.length);
    assert.equal(paced(speed), `${own} passes instead of ${other}, one every ${duration(ours)}${ours > theirs ? " on shared cores" : ""} `
      + `instead of ${duration(theirs)}. In all, ${speed.toFixed(2)} times as fast.`);
  }
  assert.doesNotMatch(paced(0.5, TOLD), /share/);
});

const timed = (index, more) => {
  const [start, end] = [index, index + 0.9];
  return iterationOf({ index, target: { start, end, rows: 1 }, sync: end, ...more });
};
const HEADER = headerOf({
  prompt: "Why?", about: { parallel: true, title: "DuoDecoding" }, calibration: { target: [[1, 0.02], [4, 0.05]] },
});
const pending = (text, parent) => nodeOf(text, { parent, status: "pending" });

// The prompt, a hit of one sequence with one token that waits, and the check that accepts it.
const made = () => ({
  header: HEADER,
  iterations: [
    timed(0, { committed: ["A"], checked: [ownNode("A")] }),
    timed(1, {
      committed: [" b"], drafted: [nodeOf(" b"), pending(" c", 0)], sequences: 1,
      verdict: { outcome: "hit", sequence: 1 },
    }),
    timed(2, { committed: [" c", " d"], checked: [nodeOf(" c"), ownNode(" d", { parent: 0 })] }),
  ],
});
const aloneOf = (texts) => ({
  header: { ...HEADER, method: "vanilla" },
  iterations: texts.map((text, index) => timed(index, { committed: [text] })),
});

test("of a small run the stops that it holds are told, and keep their numbers", () => {
  const stops = stopsOf(made(), null);
  assert.deepEqual(stops.map(({ number }) => number), [2, 3, 4]);
  const { cheap, right } = byKind(stops);
  assert.equal(cheap.rows, 4);
  assert.match(cheap.words, /checking four tokens takes about 2\.5 times as long/);
  assert.equal(textsOf(right.tail.tokens), "A b");
  // The same text alone makes the first and the last one; another text only the first.
  const kinds = (texts) => stopsOf(made(), aloneOf(texts)).map(({ kind }) => kind);
  assert.deepEqual(kinds(["A", " b", " c", " d", " e"]), ["one", "cheap", "guess", "right", "race"]);
  assert.deepEqual(kinds(["A", " b", " c", " d", " e"].toReversed()), ["one", "cheap", "guess", "right"]);
  assert.deepEqual(kinds(["A"]), ["cheap", "guess", "right"]);
  const other = { ...aloneOf(["A", " b", " c", " d", " e"]), header: { ...HEADER, prompt: "How?" } };
  assert.deepEqual(stopsOf(made(), other).map(({ number }) => number), [2, 3, 4]);
});

test("a run without guesses and costs tells nothing but what it is", () => {
  const bare = { header: headerOf({ calibration: null }), iterations: [timed(0, { committed: ["A"] })] };
  assert.deepEqual(stopsOf(bare, null), []);
});

test("a wish is given up where nothing fulfils it, but the first", () => {
  const wishes = [(value) => value % 2 === 0, (value) => value > 9];
  assert.deepEqual([[1, 2, 12], [1, 2, 3], [1, 3, 11]].map((list) => firstOf(list, wishes)), [12, 2, null]);
});

test("the text's end begins with its line or with a word", () => {
  const tailOf = (...texts) => {
    const iterations = texts.map((text) => iterationOf({ committed: [tokenOf(text)] }));
    const { isCut, tokens } = tailBefore(iterations, texts.length);
    return [isCut, textsOf(tokens)];
  };
  assert.deepEqual(tailOf("One", "\n", "Two", " three"), [false, "Two three"]);
  assert.deepEqual(tailOf(), [false, ""]);
  const long = Array.from({ length: 40 }, (_, index) => (index % 2 ? "ing" : " walk"));
  assert.deepEqual(tailOf(...long), [true, " walking".repeat(7)]);
});

test("what is slow already is not shown slower", () => {
  assert.equal(slowerOf({ iterations: [timed(0, {}), timed(1, {})] }), 2);
  assert.equal(slowerOf({ iterations: [iterationOf({ target: { start: 0, end: 0.017, rows: 1 } })] }), 100);
});

test("steps are run in their order, those beside others at their time", () => {
  const [script, ran] = [createScript(), []];
  script.wait(1);
  script.later(2, () => ran.push("beside"));
  script.act(() => ran.push("first"), 1.5);
  script.act(() => ran.push("second"));
  assert.equal(script.length(), 2.5);
  script.inOrder().forEach(({ run }) => run());
  assert.deepEqual(ran, ["first", "second", "beside"]);
});

test("a score that is held, or out of sight, stands still with its motions, and goes on where it was", (context) => {
  let [asked, time] = [null, 0];
  globalThis.requestAnimationFrame = (run) => { asked = run; return 1; };
  context.after(() => { delete globalThis.requestAnimationFrame; });
  // Lets a number of frames pass, of a tenth of a second each.
  const pass = (number) => {
    for (let frame = 0; frame < number && asked; frame++) {
      const run = asked;
      [asked, time] = [null, time + 100];
      run(time);
    }
  };
  const motion = {
    playState: "running", pause() { this.playState = "paused"; }, play() { this.playState = "running"; },
  };
  const ran = [];
  const score = createScore({ getAnimations: () => [motion] }, () => {});
  score.play([{ at: 0.25, run: () => ran.push("step") }], 1, () => ran.push("end"));
  pass(2);
  score.hold();
  pass(50);
  assert.deepEqual([ran, score.goes(), motion.playState], [[], false, "paused"]);
  score.goOn();
  assert.equal(motion.playState, "running");
  pass(4);
  score.see(false);
  pass(50);
  assert.deepEqual(ran, ["step"]);
  score.see(true);
  pass(50);
  assert.deepEqual([ran, score.isOver()], [["step", "end"], true]);
});
