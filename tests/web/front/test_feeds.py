"""What is shown first, what the server tells, and what is kept of it."""

import json

from tests.node import evaluate
from tests.web.front.runs import recorded

SILENCE = """async (pauses) => {
  const { mock } = await import("node:test");
  mock.timers.enable({ apis: ["setInterval"] });
  const { createReceiver } = await import("http://plain.test/visualizer/feed.js");
  const [receiver, told] = [createReceiver(), []];
  receiver.subscribe((event) => told.push(event.type));
  receiver.take({ run: "run", seq: 0, events: [] });
  const heard = pauses.map((milliseconds) => {
    mock.timers.tick(milliseconds);
    return [...told];
  });
  receiver.take({ run: "run", seq: 1, events: [] });
  return [...heard, told];
}"""


def test_a_server_is_lost_that_is_silent_for_five_seconds_and_back_with_its_next_batch():
    lost = ["reset", "connection"]
    assert evaluate(SILENCE, [4_500, 1_000]) == [["reset"], lost, [*lost, "connection"]]


OPENING = """async ([answers, wantsNoMotion]) => {
  globalThis.matchMedia = () => ({ matches: wantsNoMotion });
  const { createOpening } = await import("http://plain.test/visualizer/opening.js");
  const options = { method: "duodecoding", told: "told", isFree: () => true, isCovered: () => false };
  const shown = [];
  for (const answer of answers) {
    const sent = new Map();
    globalThis.fetch = async () => ({ ok: true, text: async () => answer });
    const receiver = { send: (event) => sent.set(event.type, event.iteration ?? event.speed) };
    await createOpening(receiver, { duodecoding: "/recording" }, options).begin();
    shown.push([[...sent.keys()], sent.get("hold"), sent.get("play")]);
  }
  return shown;
}"""


def test_a_recording_plays_from_before_its_most_telling_iteration_on_and_one_that_cannot_be_read_is_not_shown():
    trace = recorded("duodecoding")
    taken = [
        each["sequences"] if each["index"] and each["verdict"]["outcome"] == "hit" and each["sequences"] <= 4 else 0
        for each in trace["iterations"]
    ]
    at, events = taken.index(max(taken)), ["reset", "hold", "header", "iteration", "end", "status"]
    *bad, good = evaluate(OPENING, [["", "{}", json.dumps(trace)], False])
    assert bad == [[[], None, None]] * 2 and good == [[*events, "play"], at - 1, "3 s"]
    # For those who want no motion it is held there.
    assert evaluate(OPENING, [[json.dumps(trace)], True]) == [[events, at, None]]
