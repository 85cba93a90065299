// Tests of link.js and limits.js: a view of the page as a link and as a file, and what of either is not taken.

import assert from "node:assert/strict";
import test from "node:test";
import { hidingRule, isControl } from "./limits.js";
import { fileOf, fragmentOf, longestText, storyIn, viewOfFile, viewOfFragment } from "./link.js";

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
const file = (more) => JSON.stringify({ duoviz: "settings", version: 1, ...LIVE, ...more });

test("a link says what a reader looks for, and what differs", () => {
  assert.equal(fragmentOf(LIVE, PAGES), "#tab=live&prompt=Why%3F&method=duotree&seed=0");
  const fields = { ...DEFAULTS, raw: true, seed: null };
  const view = { tab: "live", fields, iteration: 3, recording: undefined, controls: ["step", "play"] };
  assert.equal(fragmentOf(view, PAGES),
    "#tab=live&prompt=Why%3F&method=duotree&seed=&raw=true&iteration=3&controls=step%2Cplay");
  assert.equal(fragmentOf({ tab: "learn", fields: { lesson: "", page: 1 } }, PAGES), "#tab=learn");
  // Half a character does not break it.
  const half = fragmentOf({ tab: "live", fields: { ...DEFAULTS, prompt: "a\ud83d" } }, PAGES);
  assert.equal(opened(half).view.fields.prompt, "a\ufffd");
});

test("what a link does not say is as the page opens, and one to a heading or to nothing is no view", () => {
  assert.deepEqual(opened("#tab=live").view, LIVE);
  assert.deepEqual(opened("seed=3").view, { tab: "live", fields: { ...DEFAULTS, seed: 3 } },
    "the first tab's, and with no sign before it");
  for (const fragment of ["", "#", "#a-heading", "#a&b"]) {
    assert.deepEqual(opened(fragment), { view: null, look: {}, problem: "" });
  }
});

test("values are read by their kinds", () => {
  const values = [
    ["prompt=a+b%2Bc=d", { prompt: "a b+c=d" }], ["prompt=", { prompt: "" }],
    ["seed=", { seed: null }], ["seed=1e3", { seed: 1000 }], ["seed=-1.5e-7", { seed: -1.5e-7 }],
    ["raw=1", { raw: true }], ["raw=false", {}], ["method=rest", { method: "rest" }],
  ];
  for (const [text, fields] of values) {
    assert.deepEqual(opened(`#tab=live&${text}`).view.fields, { ...DEFAULTS, ...fields }, text);
  }
  const { iteration, autoplay } = opened("#tab=live&iteration=007&autoplay=true").view;
  assert.deepEqual([iteration, autoplay], [7, true]);
  assert.deepEqual(opened("#details=1"), { view: null, look: { details: true }, problem: "" });
});

test("invalid values and unknown keys are reported and ignored", () => {
  const wrong = {
    "seed=abc": `"seed" (not a number)`, "seed=%20": `"seed" (not a number)`, "seed=Infinity": `"seed" (not a number)`,
    "raw=yes": `"raw" (not true or false)`, "method=vanilla": `"method" (not one of the choices)`,
    "iteration=-1": `"iteration" (not an iteration number)`,
    "iteration=1.5": `"iteration" (not an iteration number)`,
    "iteration=1000001": `"iteration" (not an iteration number)`,
    "autoplay=maybe": `"autoplay" (not true or false)`,
    "theme=red": `"theme" (not one of the choices)`,
    "prompt=%ZZ": `"prompt=%ZZ" (cannot be read)`, "raw": `"raw" (cannot be read)`,
    "controls=step,jump": `control "jump" (unknown)`, "color=red": `"color" (unknown here)`,
    "__proto__=a&toString=b": `"__proto__" (unknown here), "toString" (unknown here)`,
  };
  for (const [text, words] of Object.entries(wrong)) {
    const { view, problem } = opened(`#tab=live&${text}`);
    assert.equal(problem, `Ignored in this link: ${words}.`);
    assert.deepEqual(view, LIVE);
  }
  const twice = opened("#tab=live&seed=1&seed=2");
  assert.deepEqual([twice.view.fields.seed, twice.problem], [1, `Ignored in this link: "seed" (given twice).`]);
  const other = opened("#tab=learn&lesson=why&seed=3&iteration=2&recording=1&autoplay=true");
  assert.deepEqual(other.view, { tab: "learn", fields: { lesson: "why", page: 1 } });
  assert.equal(other.problem,
    `Ignored in this link: "seed" (unknown here), "iteration" (unknown here), "recording" (unknown here), and 1 more.`);
});

test("a tab that is not there opens none, and what else is said is the first one's", () => {
  for (const tab of ["lab", "constructor"]) {
    const { view, look, problem } = opened(`#tab=${tab}`);
    assert.deepEqual([view, look, problem], [null, {}, `Ignored in this link: "tab" (not one of the choices).`]);
  }
  assert.deepEqual(opened("#tab=lab&seed=3").view, { tab: "live", fields: { ...DEFAULTS, seed: 3 } });
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
});

test("a file's missing fields are as the page opens, and what is none of a view's is dropped", async () => {
  const { view } = await viewOfFile(file({ fields: { seed: 3 }, autoplay: true, start: "x" }), PAGES);
  assert.deepEqual(view, { tab: "live", fields: { ...DEFAULTS, seed: 3 }, iteration: undefined, recording: undefined });
  const learn = { tab: "learn", fields: { lesson: "why", page: null }, iteration: 3, recording: undefined };
  assert.deepEqual(viewOfFile(fileOf(learn), PAGES), { view: learn });
});

test("one wrong entry, and nothing of a file is taken", () => {
  const none = "This is not a duoviz settings file. Nothing was changed.";
  const used = (words) => `This settings file cannot be used: ${words}. Nothing was changed.`;
  const wrong = [
    ["", "This is not a duoviz settings file: it is not JSON. Nothing was changed."],
    ["[]", none], ["null", none], ["{}", none], ["3", none],
    [file({ version: 2 }), `This settings file has version "2", and this page reads version 1.`],
    [file({ version: { a: 1 } }), `This settings file has version "{"a":1}", and this page reads version 1.`],
    [file({ tab: "constructor" }), used(`the page has no tab "constructor"`)],
    [file({ tab: {} }), used(`the page has no tab "{}"`)],
    [file({ fields: [] }), used(`"fields" is missing`)],
    [file({ fields: { toString: "x" } }), used(`the page has no setting "toString"`)],
    [file({ fields: { prompt: 3 } }), used(`"prompt" is not a text`)],
    [file({ fields: { prompt: "\ud83d" } }), used(`"prompt" is not a text`)],
    [file({ fields: { seed: "3" } }), used(`"seed" is not a number`)],
    [file({ fields: { raw: 1 } }), used(`"raw" is not true or false`)],
    [file({ fields: { method: "vanilla" } }), used(`"method" is not one of the choices`)],
    [file({ iteration: -1 }), used(`"iteration" is not an iteration number`)],
    [file({ recording: null }), used(`"recording" is not an iteration number`)],
  ];
  for (const [text, problem] of wrong) assert.deepEqual(viewOfFile(text, PAGES), { problem });
});

test("a link may name a stop, and the story opens by itself where nothing of a run is named", () => {
  assert.deepEqual(storyIn(""), { stop: null, mayOpen: true });
  assert.deepEqual(storyIn("#theme=dark&present=1&story=3"), { stop: 3, mayOpen: true });
  for (const wrong of ["0", "8", "x", "03", ""]) assert.equal(storyIn(`#story=${wrong}`).stop, null);
  for (const own of ["prompt=Hi", "iteration=3", "tab=lab", "method=vanilla", "controls=play"]) {
    assert.deepEqual(storyIn(`#${own}&story=2`), { stop: 2, mayOpen: false });
  }
});

const CONTROLS = ["prompt", "files", "step", "play", "slider", "speed", "zoom", "pages", "lessons", "live"];

test("all but the named controls are hidden, on their tab alone", () => {
  assert.ok(CONTROLS.every(isControl));
  assert.deepEqual(["", "Step", "constructor", "__proto__", "toString"].filter(isControl), []);
  assert.equal(hidingRule(["live", CONTROLS]), "");
  assert.equal(hidingRule(["live", CONTROLS.filter((name) => name !== "slider" && name !== "zoom")]),
    "#tab-live :is(.dv-slider, .dv-timeline .dv-tools) { display: none !important; }");
});
