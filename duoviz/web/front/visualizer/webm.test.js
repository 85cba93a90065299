// Tests of webm.js: a recorded film gets its length, and anything else stays as it is.

import assert from "node:assert/strict";
import test from "node:test";
import { withLength } from "./webm.js";

const bytesOf = (hex) => Uint8Array.from(hex.match(/[0-9a-f]{2}/g), (byte) => parseInt(byte, 16));
const hexOf = async (parts) => Buffer.from(await new Blob(parts).arrayBuffer()).toString("hex");

const HEAD = "1a45dfa380";
// Written while the end was not known: all ones.
const OPEN_SEGMENT = "1853806701ffffffffffffff";
const SCALE = "2ad7b1830f4240";
const CLUSTER = "1f43b67501ffffffffffffffa38101";
const LENGTH = "44898840a3880000000000";
const film = (segment, info, size) => bytesOf(HEAD + segment + "1549a966" + size + info + CLUSTER);

test("a film of two and a half seconds", async () => {
  // What is in the info is 7 and 11 bytes long.
  const expected = `${HEAD}${OPEN_SEGMENT}1549a9660100000000000012${SCALE}${LENGTH}${CLUSTER}`;
  assert.equal(await hexOf(withLength(film(OPEN_SEGMENT, SCALE, "87"), 2.5)), expected);
});

test("a length that is there is replaced", async () => {
  const parts = withLength(film(OPEN_SEGMENT, `448988${"00".repeat(8)}${SCALE}`, "92"), 2.5);
  assert.equal(await hexOf(parts), `${HEAD}${OPEN_SEGMENT}1549a9660100000000000012${SCALE}${LENGTH}${CLUSTER}`);
});

test("what is not written as browsers do stays as it is", () => {
  const others = [film("1853806788", SCALE, "87"), bytesOf(HEAD + OPEN_SEGMENT + CLUSTER)];
  for (const bytes of others) assert.deepEqual(withLength(bytes, 2.5), [bytes]);
});
