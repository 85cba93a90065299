// Tests of check.js: recorded runs are traces, and with one fault they are none, for what is at the fault's place.

import assert from "node:assert/strict";
import test from "node:test";
import { recordingOf, recordings, tokenOf } from "../testing.js";
import { wrongInTrace } from "./check.js";

const METHOD = "duotree";
const LAST = recordingOf(METHOD).iterations.findLastIndex(({ rest }) => rest?.length);

// The place of a fault, and what brings it about. Others, and what is said of a file: tests/web/front/test_traces.py.
const FAULTS = {
  ".header": (trace) => { delete trace.header; },
  ".header.schema": ({ header }) => { header.schema = 2; },
  ".header.method": ({ header }) => { delete header.about; header.method = "unheard_of"; },
  ".iterations": (trace) => { trace.iterations = {}; },
  ".iterations[1]": ({ iterations }) => { iterations[1] = null; },
  ".iterations[1].draft[0].end": ({ iterations }) => { iterations[1].draft[0].end = 0; },
  ".iterations[1].draft[0].tokens": ({ iterations }) => { delete iterations[1].draft[0].tokens; },
  ".iterations[4].committed": ({ iterations }) => { iterations[4].committed = Array(10_001).fill(tokenOf("x")); },
  ".iterations[1].checked[0].parent": ({ iterations }) => { iterations[1].checked[0].parent = 0; },
  ".iterations[1].checked[0].status": ({ iterations }) => { iterations[1].checked[0].status = "<b>"; },
  [`.iterations[${LAST}].rest[0].parent`]: ({ iterations }) => { iterations[LAST].rest[0].parent = 9999; },
  ".iterations[5].verdict": ({ iterations }) => { delete iterations[5].verdict; },
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
