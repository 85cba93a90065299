import assert from "node:assert/strict";
import { test } from "node:test";
import { passFocus } from "./form.js";

test("Stop takes Generate's focus and gives it back, though both are laid out after the visualizer", (context) => {
  const [parts, root] = [{}, { dataset: { live: "no" } }];
  const page = { activeElement: null, getElementById: (id) => parts[id] ?? null };
  let changed = () => {};
  class Observer {
    constructor(callback) { changed = callback; }
    observe() {}
  }
  const globals = { document: page, MutationObserver: Observer };
  Object.assign(globalThis, globals);
  context.after(() => Object.keys(globals).forEach((name) => delete globalThis[name]));
  passFocus(root);
  changed();
  for (const id of ["generate", "stop"]) parts[id] = { id, focus() { page.activeElement = this; } };
  parts.generate.focus();
  for (const [live, id] of [["yes", "stop"], ["no", "generate"]]) {
    root.dataset.live = live;
    changed();
    assert.equal(page.activeElement.id, id);
  }
  // Of those who went elsewhere meanwhile, it stays where it is.
  page.activeElement = { id: "prompt" };
  root.dataset.live = "yes";
  changed();
  assert.equal(page.activeElement.id, "prompt");
});
