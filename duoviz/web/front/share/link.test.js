// Tests of link.js and limits.js: a view of the page as a link, and what of one is not taken.

import assert from "node:assert/strict";
import test from "node:test";
import { hidingRule, isControl } from "./limits.js";
import { fragmentOf, storyIn, viewOfFragment } from "./link.js";

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

test("a link says what a reader looks for, and what differs", () => {
  assert.equal(fragmentOf(LIVE, PAGES), "#tab=live&prompt=Why%3F&method=duotree&seed=0");
  const fields = { ...DEFAULTS, raw: true, seed: null };
  const view = { tab: "live", fields, iteration: 3, recording: undefined, controls: ["step", "play"] };
  assert.equal(fragmentOf(view, PAGES),
    "#tab=live&prompt=Why%3F&method=duotree&seed=&raw=true&iteration=3&controls=step%2Cplay");
  assert.equal(fragmentOf({ tab: "learn", fields: { lesson: "", page: 1 } }, PAGES), "#tab=learn");
  // However long, whatever its characters; half a one breaks nothing.
  for (const prompt of ["a&b=c #1 100%\n<b>é</b> 🦙+ ".repeat(500), "a\ud83d"]) {
    const link = fragmentOf({ tab: "live", fields: { ...DEFAULTS, prompt } }, PAGES);
    assert.equal(opened(link).view.fields.prompt, prompt.toWellFormed());
  }
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
    ["prompt=", { prompt: "" }], ["seed=", { seed: null }], ["seed=1e3", { seed: 1000 }], ["seed=-1.5e-7", { seed: -1.5e-7 }],
    ["raw=1", { raw: true }], ["raw=false", {}], ["method=rest", { method: "rest" }],
  ];
  for (const [text, fields] of values) {
    assert.deepEqual(opened(`#tab=live&${text}`).view.fields, { ...DEFAULTS, ...fields }, text);
  }
  const { iteration, autoplay } = opened("#tab=live&iteration=007&autoplay=true").view;
  assert.deepEqual([iteration, autoplay], [7, true]);
});

test("invalid values and unknown keys are reported and ignored", () => {
  const wrong = {
    "seed=abc": `"seed" (not a number)`, "seed=%20": `"seed" (not a number)`, "seed=Infinity": `"seed" (not a number)`,
    "raw=yes": `"raw" (not true or false)`, "method=vanilla": `"method" (not one of the choices)`,
    "iteration=-1": `"iteration" (not an iteration number)`, "iteration=1000001": `"iteration" (not an iteration number)`,
    "controls=step,jump": `control "jump" (unknown)`, "color=red": `"color" (unknown here)`,
    "__proto__=a&toString=b": `"__proto__" (unknown here), "toString" (unknown here)`,
  };
  for (const [text, words] of Object.entries(wrong)) {
    const { view, problem } = opened(`#tab=live&${text}`);
    assert.equal(problem, `Ignored in this link: ${words}.`);
    assert.deepEqual(view, LIVE);
  }
  const other = opened("#tab=learn&lesson=why&seed=3&iteration=2&recording=1&autoplay=true");
  assert.deepEqual(other.view, { tab: "learn", fields: { lesson: "why", page: 1 } });
  assert.equal(other.problem,
    `Ignored in this link: "seed" (unknown here), "iteration" (unknown here), "recording" (unknown here), and 1 more.`);
});

test("a list is written with commas, and read where all of it is among the choices", () => {
  const list = (more) => ({ kind: "list", default: ["a", "b"], ...more });
  const pages = { lab: { fields: { tasks: list({ choices: ["a", "b"] }), results: list() } } };
  const written = (fields) => fragmentOf({ tab: "lab", fields }, pages);
  assert.equal(written({ tasks: ["a", "b"], results: ["x", "y z"] }), "#tab=lab&results=x%2Cy+z");
  assert.equal(written({ tasks: [], results: ["a", "b"] }), "#tab=lab&tasks=");
  const { view, problem } = viewOfFragment("#tab=lab&tasks=b,c&results=x,%20y", pages);
  assert.deepEqual([view.fields, problem],
    [{ tasks: ["a", "b"], results: ["x", "y"] }, `Ignored in this link: "tasks" (not a list of the choices).`]);
});

test("a tab that is not there opens none, and what else is said is the first one's", () => {
  const { view, look, problem } = opened("#tab=constructor");
  assert.deepEqual([view, look, problem], [null, {}, `Ignored in this link: "tab" (not one of the choices).`]);
  assert.deepEqual(opened("#tab=lab&seed=3").view, { tab: "live", fields: { ...DEFAULTS, seed: 3 } });
});

test("how the page looks, whatever the tab", () => {
  const { view, look } = opened("#theme=dark&present=true&details=1&controls=step,%20play,");
  assert.deepEqual([view, look], [null, { theme: "dark", present: true, details: true, controls: ["step", "play"] }]);
  assert.deepEqual(opened("#tab=learn&controls=step,jump").look, { controls: ["step"] });
  assert.deepEqual(opened("#controls=jump").look, {}, "none is left");
  assert.deepEqual(opened("#controls=").look, { controls: [] }, "but none may be wanted");
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
  assert.deepEqual(["", "Step", "constructor", "toString"].filter(isControl), []);
  assert.equal(hidingRule(["live", CONTROLS]), "");
  assert.equal(hidingRule(["live", CONTROLS.filter((name) => name !== "slider" && name !== "zoom")]),
    "#tab-live :is(.dv-slider, .dv-timeline .dv-tools) { display: none !important; }");
});
