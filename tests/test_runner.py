"""One run as events, and methods in alternation."""

import pytest

from duoviz import runner, runs
from duoviz.decoding import METHODS
from duoviz.decoding.forward import PREFILL_CHUNK
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from tests.tiny import tiny_engine

SETTINGS = Settings(max_new_tokens=20)


def test_preparing_starts_the_draft_although_costs_are_known(engine):
    engine.draft_in_turn = None
    runner.prepare(engine, "vanilla")
    assert engine.draft_in_turn is None
    runner.prepare(engine, "speculative")
    assert engine.draft_in_turn


# REST, which would need a datastore, reads a prompt as PLD does; DuoDecoding's draft does it in its own process.
@pytest.mark.parametrize(
    "method, reader", [(method, "target") for method in METHODS if method != "rest"] + [("speculative", "draft")]
)
def test_a_run_can_be_stopped_while_its_prompt_is_read(method, reader):
    engine = tiny_engine(context=2048)
    models = {"target": engine.pair.target, "draft": engine.draft_beside.model}
    forward, read = models[reader].forward, []

    def counting(ids, **options):
        read.append(len(ids))
        return forward(ids, **options)

    models[reader].forward = counting
    trace = runner.collect(runner.stream(engine, method, "x" * 1500, SETTINGS, stopped=lambda: bool(read)))
    assert trace["end"]["stopped"] == "stopped" and sum(read) <= PREFILL_CHUNK
    # The draft reads it after the target, which has written a token by then.
    assert [len(iteration["committed"]) for iteration in trace["iterations"]] == [1] * (reader == "draft")
    assert runner.collect(runner.stream(engine, method, "x" * 1500, SETTINGS))["end"]["stopped"] == "length"


def test_a_race_gives_every_lanes_events_alone_and_in_alternation(engine):
    lanes = [runner.Lane("one", "vanilla", SETTINGS), runner.Lane("two", "speculative", SETTINGS)]
    seen = []
    for event in runner.race(engine, ["hi", "you"], lanes, repeats=2):
        if event["type"] == "header":
            seen.append((event["lane"], event["repeat"], event["header"]["prompt"]))
            tokens = 0
        elif event["type"] == "iteration":
            tokens += len(event["iteration"]["committed"])
        else:
            # A run ends before the next one begins; a warm-up is short.
            assert event["type"] == "end" and (event["lane"], event["repeat"]) == seen[-1][:2]
            assert tokens == (runs.WARMUP_TOKENS if event["repeat"] is None else 20)
    assert runs.short(Settings(max_new_tokens=4)).max_new_tokens == 4
    warmups, measured = seen[:2], seen[2:]
    assert [run[:2] for run in warmups] == [("two", None), ("one", None)]
    assert measured == [
        ("one", 0, "hi"), ("two", 0, "hi"), ("two", 1, "hi"), ("one", 1, "hi"),
        ("one", 0, "you"), ("two", 0, "you"), ("two", 1, "you"), ("one", 1, "you"),
    ]  # fmt: skip


def test_a_lane_that_fails_runs_no_more_and_a_comparison_says_which(engine):
    missing = Settings(max_new_tokens=20, rest_datastore="/no/such/folder")
    lanes = [runner.Lane("Look", "rest", missing), runner.Lane("Plain", "vanilla", SETTINGS)]
    events = list(runner.race(engine, ["hi"], lanes, repeats=2))
    (error,) = [event for event in events if event["lane"] == "Look"]
    assert error["type"] == "error" and "/no/such/folder" in error["message"]
    assert [event["repeat"] for event in events if event["type"] == "end"] == [None, 0, 1]
    with pytest.raises(UserError, match="Look: .*/no/such/folder"):
        list(runner.compare(engine, ["hi"], lanes))


def test_a_race_that_is_stopped_ends(engine):
    lanes = [runner.Lane("one", "vanilla", SETTINGS), runner.Lane("two", "duodecoding", SETTINGS)]
    events = list(runner.race(engine, ["hi"], lanes, stopped=lambda: True))
    assert {event["lane"] for event in events} == {"two"} and events[-1]["end"]["stopped"] == "stopped"
