// Tests of methods.js: a run's own header says what its method is; of older ones the page knows it.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, recordingOf } from "../testing.js";
import { aboutOf, allProposers, isKnown, know, originOf, TARGET } from "./methods.js";

const rest = recordingOf("rest").header.about;

test("before it is told of methods, the page knows the target alone", () => {
  assert.deepEqual(allProposers(), [TARGET]);
  assert.equal(aboutOf({ method: "rest" }).title, "");
  assert.deepEqual([originOf("target", null), originOf("datastore", null)], ["from the target", "from datastore"]);
});

test("a header's own words come first", () => {
  know({ rest, made_up: rest });
  assert.equal(aboutOf(headerOf()).title, "Made up");
  assert.equal(aboutOf({ method: "rest" }).title, "REST");
  assert.deepEqual(aboutOf({ method: "from tomorrow" }).proposers, []);
  assert.equal(aboutOf(null).title, "");
});

test("only a method's own name is known", () => {
  know({ rest });
  assert.deepEqual(["rest", "duotree", "constructor", "__proto__"].map(isKnown), [true, false, false, false]);
});

test("all that propose, each once, the target last", () => {
  know({ rest, again: rest, duotree: recordingOf("duotree").header.about });
  assert.deepEqual(allProposers().map(({ id }) => id), ["datastore", "draft", "prompt", "target"]);
});

test("where a token comes from", () => {
  know({ rest });
  const header = headerOf({ about: { proposers: [{ id: "draft", origin: "from a draft of its own" }] } });
  assert.equal(originOf("draft", header), "from a draft of its own");
  assert.equal(originOf("datastore", header), "from the datastore");
  assert.equal(originOf("target", header), "from the target");
  assert.equal(originOf("elsewhere", header), "from elsewhere");
});
