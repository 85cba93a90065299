// Tests of feed.js: what comes late or twice of a run, and what is shown stays until the next one's first iteration.

import assert from "node:assert/strict";
import test from "node:test";
import { createLobby, createReceiver } from "./feed.js";

test("what comes late of a run is no run's any more, and what comes twice comes once", (context) => {
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
  assert.deepEqual(heard, ["reset 2 s", "header", "iteration", "end", "reset 2 s", "hold 4", "header", "end"]);
});

test("what is shown stays until the next run's first iteration", () => {
  const named = ["reset", "header", "iteration", "end", "waiting"].map((type) => ({ type }));
  const [RESET, HEADER, FIRST, END, WAITING] = named;
  const [HOLD, AGAIN] = [{ type: "hold", iteration: 3 }, { type: "reset", file: "again" }];
  const [STATUS, ERROR] = [{ type: "status", text: "Two are before you." }, { type: "error", message: "No room." }];
  const CLOSING = { type: "end", end: { message: "Closing." } };
  const KEPT = { type: "kept", text: "Stopped before it began." };
  const cases = [
    // Where nothing is shown, a run is heard as it comes.
    [false, [RESET, STATUS, HEADER, END], [RESET, STATUS, HEADER, END], [], false],
    [true, [RESET, STATUS], [], [WAITING, STATUS], true],
    [true, [RESET, HOLD, STATUS, HEADER], [], [WAITING, STATUS], true],
    [true, [RESET, HOLD, STATUS, HEADER, FIRST, END], [RESET, HOLD, HEADER, FIRST, END], [WAITING, STATUS], false],
    [true, [RESET, END], [], [WAITING, KEPT], false], [true, [RESET, ERROR], [], [WAITING, ERROR], false],
    [true, [RESET, HEADER, END], [], [WAITING, KEPT], false],
    [true, [RESET, HEADER, ERROR], [], [WAITING, ERROR], false],
    [true, [RESET, HEADER, CLOSING], [], [WAITING, { ...KEPT, text: "Closing." }], false],
    [true, [RESET, HOLD, AGAIN, HEADER, FIRST], [AGAIN, HEADER, FIRST], [WAITING, WAITING], false],
  ];
  for (const [keepsOne, events, ...expected] of cases) {
    const [heard, said] = [[], []];
    const [hear, say] = [heard, said].map((list) => (event) => list.push(event));
    const lobby = createLobby({ keeps: () => keepsOne, hear, say });
    events.forEach(lobby.take);
    assert.deepEqual([heard, said, lobby.isWaiting()], expected);
  }
});
