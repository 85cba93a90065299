// Tests of check.js: recorded runs are traces, and with one fault they are none, for what is at the fault's place.

import assert from "node:assert/strict";
import test from "node:test";
import { recordingOf, recordings } from "../testing.js";
import { readTrace, wrongInTrace } from "./check.js";

const METHOD = "duotree";
const LAST = recordingOf(METHOD).iterations.findLastIndex(({ rest }) => rest?.length);
const LONG = { id: 1, text: "x".repeat(100), source: "target", gap: null };

// The place of a fault, and what brings it about. That Python names the same places: tests/trace/test_check.py.
const FAULTS = {
  ".header": (trace) => { delete trace.header; },
  ".header.schema": ({ header }) => { header.schema = 2; },
  ".header.method": ({ header }) => { delete header.about; header.method = "unheard_of"; },
  ".header.about.proposers[0].id": ({ header }) => { header.about.proposers[0].id = null; },
  ".header.settings.max_new_tokens": ({ header }) => { header.settings.max_new_tokens = true; },
  ".header.prompt": ({ header }) => { header.prompt = "x".repeat(2_000_001); },
  ".header.target": ({ header }) => { header.target = null; },
  ".iterations": (trace) => { trace.iterations = {}; },
  ".iterations[1]": ({ iterations }) => { iterations[1] = null; },
  ".iterations[1].target.end": ({ iterations }) => { iterations[1].target.end = 0; },
  ".iterations[1].draft[0].end": ({ iterations }) => { iterations[1].draft[0].end = 0; },
  ".iterations[1].draft[0].tokens": ({ iterations }) => { delete iterations[1].draft[0].tokens; },
  ".iterations[2]": ({ iterations }) => { iterations[2].sync = 0; },
  ".iterations[3]": ({ iterations }) => { iterations[3].index = 7; },
  ".iterations[4]": ({ iterations }) => { iterations[4].committed = Array(10_000).fill(LONG); },
  ".iterations[4].committed": ({ iterations }) => { iterations[4].committed = Array(10_001).fill(LONG); },
  ".iterations[1].checked[0].parent": ({ iterations }) => { iterations[1].checked[0].parent = 0; },
  ".iterations[1].checked[0].status": ({ iterations }) => { iterations[1].checked[0].status = "<b>"; },
  [`.iterations[${LAST}].rest[0].parent`]: ({ iterations }) => { iterations[LAST].rest[0].parent = 9999; },
  ".iterations[5].verdict": ({ iterations }) => { delete iterations[5].verdict; },
  ".end": (trace) => { trace.end = "eos"; },
  ".end.stopped": ({ end }) => { end.stopped = null; },
};

test("the recordings are traces", async () => {
  for (const trace of recordings()) assert.equal(await wrongInTrace(trace), null);
});

for (const [place, spoil] of Object.entries(FAULTS)) {
  test(place, async () => {
    const trace = recordingOf(METHOD);
    spoil(trace);
    assert.equal(await wrongInTrace(trace), place);
  });
}

test("fields may be added, and some may be absent or null", async () => {
  const trace = recordingOf(METHOD);
  Object.assign(trace, { later: 1, end: null });
  Object.assign(trace.iterations[0].target, { later: "x" });
  for (const name of ["pair", "versions", "date", "calibration"]) delete trace.header[name];
  for (const name of ["longest", "factors", "matched", "rest", "start"]) delete trace.iterations[0][name];
  assert.equal(await wrongInTrace(trace), null);
});

test("a file that holds no trace is refused in one sentence", async () => {
  const trace = recordingOf(METHOD);
  const problemOf = async (value) => (await readTrace(value === "{" ? value : JSON.stringify(value))).problem;
  assert.equal(await problemOf("{"), "This file is not a trace: it is not JSON.");
  assert.equal(await problemOf([1]), "This file is not a trace: it is not a JSON object.");
  assert.match(await problemOf({ recordings: [1] }), /holds a race/);
  assert.match(await problemOf({ header: { schema: 2 } }), /has schema 2, and this page reads schema 1 at most/);
  assert.match(await problemOf({ ...trace, iterations: [] }), /no iterations/);
  assert.match(await problemOf({ ...trace, end: 1 }), /: "end" is missing or wrong\.$/);
  assert.deepEqual(await readTrace(JSON.stringify(trace)), { trace });
});
