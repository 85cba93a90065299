// Tests of origin.js: when and on what a recording was made, in words.

import assert from "node:assert/strict";
import test from "node:test";
import { headerOf } from "../testing.js";
import { dateWords, devicesWords, originWords, modelsWords } from "./origin.js";

// A day may have begun here that has not in Greenwich.
process.env.TZ = "Pacific/Auckland";

test("the day, as it was in Greenwich; what is no date is no day", () => {
  assert.equal(dateWords("2026-11-24T23:13:18+00:00"), " on 24 November 2026");
  assert.equal(dateWords("2026-03-01T00:30:00+02:00"), " on 28 February 2026");
  for (const date of ["yesterday", "", null, undefined, 1764026298]) assert.equal(dateWords(date), "");
});

test("one machine is named once, different devices both", () => {
  const said = [
    ["CPU core 1 (AMD EPYC)", "CPU core 0 (AMD EPYC)", "AMD EPYC"],
    ["CPU core 0 (AMD EPYC)", null, "AMD EPYC"], ["NVIDIA H100", null, "NVIDIA H100"],
    ["", "CPU", "CPU"], ["GPU 0 (H100)", "CPU core 0 (AMD EPYC)", "GPU 0 (H100) and CPU core 0 (AMD EPYC)"],
  ];
  for (const [target, draft, words] of said) {
    assert.equal(devicesWords({ target: { device: target }, draft: draft && { device: draft } }), words);
  }
});

test("a recording says what ran where and how fast the machine was; what another engine's trace does not tell is not told", () => {
  const target = { name: "large (Q4)", device: "GPU", precision: "float32" };
  const models = { target, draft: { name: "small (4 bits)", device: "", precision: "int8" } };
  assert.equal(modelsWords(headerOf(models)), " Large model: large in float32. Small model: small in int8.");
  const told = headerOf({ target, draft: null, one_token: 0.01234 });
  assert.deepEqual([originWords(told), modelsWords(told)], [", recorded on GPU, 12.3 ms a pass of one token.", " Large model: large in float32, 12.3 ms a pass of one token."]);
  const nowhere = { name: "large", device: "" };
  const header = headerOf({ clock: "iterations", target: nowhere, draft: nowhere });
  assert.deepEqual([originWords(header), modelsWords(header)], [", recorded. Its times are not known.", " Large model: large. Small model: large."]);
});
