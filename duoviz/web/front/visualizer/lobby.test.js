// Tests of lobby.js: what is shown stays until the next one's header comes.

import assert from "node:assert/strict";
import test from "node:test";
import { createLobby } from "./lobby.js";

const [RESET, HEADER, END] = ["reset", "header", "end"].map((type) => ({ type }));
const HOLD = { type: "hold", iteration: 3 };
const [STATUS, ERROR] = [{ type: "status", text: "Two are before you." }, { type: "error", message: "No room." }];
const KEPT = { type: "kept", text: "Stopped before it began." };
const WAITING = { type: "waiting" };

function taken(keepsOne, ...events) {
  const told = { heard: [], said: [] };
  const lobby = createLobby({
    keeps: () => keepsOne, hear: (event) => told.heard.push(event), say: (event) => told.said.push(event),
  });
  events.forEach(lobby.take);
  return { ...told, isWaiting: lobby.isWaiting() };
}

test("where nothing is shown, a run is heard as it comes", () => {
  const { heard, said } = taken(false, RESET, STATUS, HEADER, END);
  assert.deepEqual([heard, said], [[RESET, STATUS, HEADER, END], []]);
});

test("the next run is let in with its header", () => {
  assert.deepEqual(taken(true, RESET, STATUS), { heard: [], said: [WAITING, STATUS], isWaiting: true });
  const { heard, said, isWaiting } = taken(true, RESET, HOLD, STATUS, HEADER, END);
  assert.deepEqual([heard, said, isWaiting], [[RESET, HOLD, HEADER, END], [WAITING, STATUS], false]);
});

test("one that never begins leaves what is shown", () => {
  assert.deepEqual(taken(true, RESET, END), { heard: [], said: [WAITING, KEPT], isWaiting: false });
  assert.deepEqual(taken(true, RESET, ERROR), { heard: [], said: [WAITING, ERROR], isWaiting: false });
});

test("the last of several that wait is let in", () => {
  const again = { type: "reset", file: "again" };
  assert.deepEqual(taken(true, RESET, HOLD, again, HEADER).heard, [again, HEADER]);
});
