// Tests of methods.js: a run's own header says what its method is; of older ones the page knows it.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf, recordingOf } from "../testing.js";
import { aboutOf, allProposers, isKnown, know, originOf } from "./methods.js";

test("a header's own words come first, and only a method's own name is known", () => {
  const rest = recordingOf("rest").header.about;
  know({ rest, again: rest, duotree: recordingOf("duotree").header.about });
  const titles = [headerOf(), { method: "rest" }, { method: "from tomorrow" }, null].map((header) => aboutOf(header).title);
  assert.deepEqual(titles, ["Made up", "REST", "", ""]);
  assert.deepEqual(["rest", "vanilla", "constructor", "__proto__"].map(isKnown), [true, false, false, false]);
  // Each once, the target last.
  assert.deepEqual(allProposers().map(({ id }) => id), ["datastore", "draft", "prompt", "target"]);
  const header = headerOf({ about: { proposers: [{ id: "draft", origin: "from a draft of its own" }] } });
  assert.deepEqual(["draft", "datastore", "target", "elsewhere"].map((source) => originOf(source, header)),
    ["from a draft of its own", "from the datastore", "from the target", "from elsewhere"]);
});
