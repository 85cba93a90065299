import assert from "node:assert/strict";
import { test } from "node:test";
import { createReceiver } from "./receiver.js";

test("What comes late of a run is no run's any more, and what comes twice comes once", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const [receiver, heard] = [createReceiver(), []];
  receiver.subscribe(({ type, ...event }) => heard.push([type, ...Object.values(event)].join(" ")));
  const take = (run, seq, ...types) => receiver.take({ run, seq, events: types.map((type) => ({ type })) });
  assert.equal(take("first", 0, "header"), "first");
  const last = ["first", 1, "iteration", "end"];
  take(...last);
  take(...last);
  assert.ok(!receiver.isOpen());
  receiver.holdNext(4);
  assert.equal(take("second", 0, "header"), "second");
  assert.equal(take(...last), "second");
  assert.ok(receiver.isOpen());
  take("second", 1, "end");
  assert.equal(take(...last), "second");
  assert.deepEqual(heard, ["reset", "header", "iteration", "end", "reset", "hold 4", "header", "end"]);
});
