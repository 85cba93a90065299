"""Earlier turns of a conversation: in the prompt, and in the trace."""

from dataclasses import replace

import pytest

from duoviz import runner
from duoviz.decoding.forward import Stopped
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.runner import Lane
from tests.tiny import DigitTokenizer, tiny_engine

BEFORE = [("who?", "me"), ("why?", "so")]
LANE = Lane("duo", "duodecoding", Settings(max_new_tokens=12))


class RoleTokenizer(DigitTokenizer):
    def render(self, chat):
        return "".join(f"[{message['role']} {message['content']}]" for message in chat)


@pytest.mark.parametrize(
    "changes, raw, text",
    [
        ({}, False, "[user who?][assistant me][user why?][assistant so][user ok]"),
        ({"prompt_format": "USER: {prompt} ASSISTANT:"}, False,
         "USER: who? ASSISTANT: me USER: why? ASSISTANT: so USER: ok ASSISTANT:"),
        ({}, True, "who?mewhy?sook"),
    ],
)  # fmt: skip
def test_earlier_turns_stand_before_the_prompt(changes, raw, text):
    pair = replace(tiny_engine().pair, tokenizer=RoleTokenizer(), **changes)
    assert pair.encode("ok", raw=raw, before=BEFORE) == DigitTokenizer()(text)["input_ids"]


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
