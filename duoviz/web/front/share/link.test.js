// Tests of link.js: a view of the page as a link and as a file, and what of either is not taken.

import assert from "node:assert/strict";
import test from "node:test";
import { fileOf, fragmentOf, LONGEST_TEXT, longestText, storyIn, viewOfFile, viewOfFragment } from "./link.js";

const PAGES = {
  live: {
    visualizer: "live-view", start: "live-run",
    fields: {
      prompt: { kind: "text", default: "Why?" },
      method: { kind: "choice", default: "duotree", choices: ["duotree", "rest"] },
      seed: { kind: "number", default: 0 }, raw: { kind: "flag", default: false },
    },
  },
  learn: {
    visualizer: null, start: null,
    fields: { lesson: { kind: "text", default: "" }, page: { kind: "number", default: 1 } },
  },
};
const DEFAULTS = { prompt: "Why?", method: "duotree", seed: 0, raw: false };
const LIVE = { tab: "live", fields: DEFAULTS };

const opened = (fragment) => viewOfFragment(fragment, PAGES);
const fieldsOf = (fragment) => opened(fragment).view.fields;
const problemOf = (fragment) => opened(fragment).problem;
const file = (more) => JSON.stringify({ duoviz: "settings", version: 1, ...LIVE, ...more });
const refusedFor = async (more) => (await viewOfFile(file(more), PAGES)).problem;

test("a link says what a reader looks for, and what differs", () => {
  assert.equal(fragmentOf(LIVE, PAGES), "#tab=live&prompt=Why%3F&method=duotree&seed=0");
  const fields = { ...DEFAULTS, raw: true, seed: null };
  const view = { tab: "live", fields, iteration: 3, recording: undefined, controls: ["step", "play"] };
  assert.equal(fragmentOf(view, PAGES),
    "#tab=live&prompt=Why%3F&method=duotree&seed=&raw=true&iteration=3&controls=step%2Cplay");
  assert.equal(fragmentOf({ tab: "learn", fields: { lesson: "", page: 1 } }, PAGES), "#tab=learn");
});

test("what a link says is what it is opened as", () => {
  const views = [
    LIVE,
    {
      tab: "live", iteration: 0,
      fields: { prompt: "50 % + 1 & = #? \n“日本” 😀", method: "rest", seed: null, raw: true },
    },
    { tab: "live", fields: { ...DEFAULTS, seed: -1.5e-7 }, recording: 12 },
    { tab: "learn", fields: { lesson: "why", page: 3 } },
  ];
  for (const view of views) assert.deepEqual(opened(fragmentOf(view, PAGES)), { view, look: {}, problem: "" });
});

test("half a character does not break a link", () => {
  assert.equal(fieldsOf(fragmentOf({ tab: "live", fields: { ...DEFAULTS, prompt: "a\ud83d" } }, PAGES)).prompt,
    "a\ufffd");
});

test("what a link does not say is as the page opens", () => {
  assert.deepEqual(opened("#tab=live").view, LIVE);
  assert.deepEqual(opened("seed=3").view, { tab: "live", fields: { ...DEFAULTS, seed: 3 } },
    "the first tab's, and with no sign before it");
});

test("a link to a heading, or to nothing, is no view", () => {
  for (const fragment of ["", "#", "#a-heading", "#a&b"]) {
    assert.deepEqual(opened(fragment), { view: null, look: {}, problem: "" });
  }
});

test("foreign keys are told and left out", () => {
  const { view, problem } = opened("#tab=live&color=red&seed=3");
  assert.deepEqual(view, { tab: "live", fields: { ...DEFAULTS, seed: 3 } });
  assert.equal(problem, `Ignored in this link: "color" (unknown here).`);
});

test("keys that every object has are foreign too", () => {
  const { view, look, problem } = opened("#tab=live&__proto__=a&constructor=b&toString=c");
  assert.deepEqual([view, look], [LIVE, {}]);
  assert.equal(problem,
    `Ignored in this link: "__proto__" (unknown here), "constructor" (unknown here), "toString" (unknown here).`);
  assert.equal(opened("#tab=constructor").view, null);
});

test("what another tab has is unknown here", () => {
  const { view, problem } = opened("#tab=learn&lesson=why&seed=3&iteration=2&recording=1&autoplay=true");
  assert.deepEqual(view, { tab: "learn", fields: { lesson: "why", page: 1 } });
  assert.equal(problem,
    `Ignored in this link: "seed" (unknown here), "iteration" (unknown here), "recording" (unknown here), and 1 more.`);
});

test("a tab that is not there opens none, and what else is said is the first one's", () => {
  const { view, look, problem } = opened("#tab=lab");
  assert.deepEqual([view, look, problem], [null, {}, `Ignored in this link: "tab" (not one of the choices).`]);
  assert.deepEqual(fieldsOf("#tab=lab&seed=3"), { ...DEFAULTS, seed: 3 });
});

test("values are read by their kinds", () => {
  const values = [
    ["prompt=a+b%2Bc", { prompt: "a b+c" }], ["prompt=", { prompt: "" }],
    ["seed=", { seed: null }], ["seed=1e3", { seed: 1000 }],
    ["raw=1", { raw: true }], ["raw=false", {}], ["method=rest", { method: "rest" }],
  ];
  for (const [text, fields] of values) {
    assert.deepEqual(fieldsOf(`#tab=live&${text}`), { ...DEFAULTS, ...fields }, text);
  }
  assert.equal(opened("#tab=live&iteration=007").view.iteration, 7);
  assert.equal(opened("#tab=live&autoplay=true").view.autoplay, true);
});

test("values that are none are told and left out", () => {
  const wrong = {
    "seed=abc": `"seed" (not a number)`, "seed=%20": `"seed" (not a number)`, "seed=Infinity": `"seed" (not a number)`,
    "raw=yes": `"raw" (not true or false)`, "method=vanilla": `"method" (not one of the choices)`,
    "iteration=-1": `"iteration" (not an iteration number)`,
    "iteration=1.5": `"iteration" (not an iteration number)`,
    "iteration=1000001": `"iteration" (not an iteration number)`,
    "autoplay=maybe": `"autoplay" (not true or false)`,
    "theme=red": `"theme" (not one of the choices)`,
    "prompt=%ZZ": `"prompt=%ZZ" (cannot be read)`, "raw": `"raw" (cannot be read)`,
    "seed=1&seed=2": `"seed" (given twice)`, "controls=step,jump": `control "jump" (unknown)`,
  };
  for (const [text, words] of Object.entries(wrong)) {
    assert.equal(problemOf(`#tab=live&${text}`), `Ignored in this link: ${words}.`);
    assert.equal(fieldsOf(`#tab=live&${text}`).prompt, "Why?");
  }
  assert.equal(fieldsOf("#tab=live&seed=1&seed=2").seed, 1, "the first counts");
});

test("how the page looks, whatever the tab", () => {
  const { view, look } = opened("#theme=dark&present=true&controls=step,%20play,");
  assert.deepEqual([view, look], [null, { theme: "dark", present: true, controls: ["step", "play"] }]);
  assert.deepEqual(opened("#tab=learn&controls=step,jump").look, { controls: ["step"] });
  assert.deepEqual(opened("#controls=jump").look, {}, "none is left");
  assert.deepEqual(opened("#controls=").look, { controls: [] }, "but none may be wanted");
});

test("how long a view's longest text is, in characters", () => {
  assert.equal(longestText({ fields: { prompt: "😀😀", lesson: "a", seed: 12345 } }), 2);
  assert.equal(longestText({ fields: {} }), 0);
  assert.equal(LONGEST_TEXT, 2000);
});

test("a view as a file, and back", async () => {
  for (const view of [LIVE, { ...LIVE, iteration: 3 }, { tab: "learn", fields: { lesson: "why", page: null } }]) {
    const found = await viewOfFile(fileOf(view), PAGES);
    assert.deepEqual(found, { view: { iteration: undefined, recording: undefined, ...view } });
  }
});

test("a file's missing fields are as the page opens, and what is none of a view's is dropped", async () => {
  const { view } = await viewOfFile(file({ fields: { seed: 3 }, autoplay: true, start: "x" }), PAGES);
  assert.deepEqual(view, { tab: "live", fields: { ...DEFAULTS, seed: 3 }, iteration: undefined, recording: undefined });
});

test("files that are no settings", async () => {
  const problems = await Promise.all(["", "[]", "null", "{}", "3"].map((text) => viewOfFile(text, PAGES)));
  assert.equal(problems[0].problem, "This is not a duoviz settings file: it is not JSON. Nothing was changed.");
  for (const { problem, view } of problems.slice(1)) {
    assert.deepEqual([problem, view], ["This is not a duoviz settings file. Nothing was changed.", undefined]);
  }
});

test("files of another version", async () => {
  assert.equal(await refusedFor({ version: 2 }), `This settings file has version "2", and this page reads version 1.`);
  assert.equal(await refusedFor({ version: { a: 1 } }),
    `This settings file has version "{"a":1}", and this page reads version 1.`);
});

test("one wrong entry, and nothing of a file is taken", async () => {
  const wrong = [
    [{ tab: "lab" }, `the page has no tab "lab"`],
    [{ tab: "constructor" }, `the page has no tab "constructor"`],
    [{ tab: {} }, `the page has no tab "{}"`],
    [{ fields: [] }, `"fields" is missing`], [{ fields: { color: "red" } }, `the page has no setting "color"`],
    [{ fields: { toString: "x" } }, `the page has no setting "toString"`],
    [{ fields: { prompt: 3 } }, `"prompt" is not a text`], [{ fields: { prompt: "\ud83d" } }, `"prompt" is not a text`],
    [{ fields: { seed: "3" } }, `"seed" is not a number`], [{ fields: { raw: 1 } }, `"raw" is not true or false`],
    [{ fields: { method: "vanilla" } }, `"method" is not one of the choices`],
    [{ iteration: -1 }, `"iteration" is not an iteration number`],
    [{ recording: null }, `"recording" is not an iteration number`],
  ];
  for (const [more, words] of wrong) {
    assert.equal(await refusedFor(more), `This settings file cannot be used: ${words}. Nothing was changed.`);
  }
});

test("a link may name a stop, and the story opens by itself where nothing of a run is named", () => {
  assert.deepEqual(storyIn(""), { stop: null, mayOpen: true });
  assert.deepEqual(storyIn("#story=3"), { stop: 3, mayOpen: true });
  assert.deepEqual(storyIn("#theme=dark&present=1"), { stop: null, mayOpen: true });
  for (const wrong of ["0", "8", "x", "03", ""]) assert.equal(storyIn(`#story=${wrong}`).stop, null);
  for (const own of ["prompt=Hi", "iteration=3", "tab=lab", "method=vanilla", "controls=play"]) {
    assert.equal(storyIn(`#${own}`).mayOpen, false);
    assert.deepEqual(storyIn(`#${own}&story=2`), { stop: 2, mayOpen: false });
  }
});
