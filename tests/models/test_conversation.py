"""A conversation: each turn is a run of its own."""

import pytest

from duoviz import runner
from duoviz.decoding.forward import Stopped
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.runner import Lane
from tests.tiny import tiny_engine

LANE = Lane("duo", "duodecoding", Settings(max_new_tokens=12))


def test_each_turn_is_asked_with_the_answers_before_it():
    first, second = runner.conversation(tiny_engine(), LANE, ["hello", "and?"])
    assert "before" not in first["header"]
    assert second["header"]["before"] == [("hello", first["end"]["text"])]
    assert second["header"]["prompt"] == "and?"
    assert second["header"]["prompt_tokens"] == len("hello" + first["end"]["text"] + "and?")


def test_a_conversation_without_turns_and_one_that_is_stopped():
    with pytest.raises(UserError, match="it has no turns"):
        runner.conversation(tiny_engine(), LANE, [])
    glances = iter(range(99))
    with pytest.raises(Stopped):
        runner.conversation(tiny_engine(), LANE, ["hello"], stopped=lambda: next(glances) > 3)
    # A run that has ended is whole, whatever is said then.
    assert next(glances) < 12
