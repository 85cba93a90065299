// Tests of spans.js: what of a lesson's text is text, and where its terms have buttons.

import assert from "node:assert/strict";
import test from "node:test";
import { spanNodes } from "./spans.js";

const SPANS = [
  { kind: "text", text: "A " }, { kind: "term", text: "drafts", to: "draft" }, { kind: "text", text: " <b>." },
];

test("terms have buttons where there is a glossary, and are text where no button may stand", () => {
  const glossary = { button: (text, to) => ({ text, to }) };
  assert.deepEqual(spanNodes(SPANS, glossary), ["A ", { text: "drafts", to: "draft" }, " <b>."]);
  assert.deepEqual(spanNodes(SPANS, null), ["A ", "drafts", " <b>."]);
});
