"""A prompt's tokens: chat template, format of the pair, or plain text."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tokenizers.processors import TemplateProcessing

from duoviz.errors import UserError
from duoviz.models.load import load_pair
from duoviz.models.tokenizers import Tokenizer
from tests.models.folders import folder, llama, tokenizer
from tests.tiny import DigitTokenizer, tiny_engine

BEFORE = [("who?", "me"), ("why?", "so")]


class RoleTokenizer(DigitTokenizer):
    def render(self, chat):
        return "".join(f"[{message['role']} {message['content']}]" for message in chat)


@pytest.mark.parametrize(
    "changes, raw, text",
    [
        ({}, False, "[user who?][assistant me][user why?][assistant so][user ok {x}]"),
        ({"prompt_format": "USER: {prompt} ASSISTANT:"}, False,
         "USER: who? ASSISTANT: me USER: why? ASSISTANT: so USER: ok {x} ASSISTANT:"),
        ({}, True, "who?mewhy?sook {x}"),
    ],
)  # fmt: skip
def test_earlier_turns_stand_before_the_prompt(changes, raw, text):
    pair = replace(tiny_engine().pair, tokenizer=RoleTokenizer(), **changes)
    assert pair.encode("ok {x}", raw=raw, before=BEFORE) == DigitTokenizer()(text)["input_ids"]


def test_a_base_model_goes_on_with_the_text(tmp_path):
    base = folder(tmp_path / "base", llama(), tokenizer(template=None))
    pair = load_pair(f"{base} + {base}")
    assert pair.encode("the cat") == pair.tokenizer("the cat")["input_ids"]


# What a text begins and ends with, by the tokenizer's own call.
FRAMES = {"GPT-2": "$A", "Llama": "<s> $A", "BERT": "<s> $A </s>"}


def framed(frame):
    """A pair whose tokenizer begins and ends a text so."""
    made = tokenizer()
    special = [(name, made.convert_tokens_to_ids(name)) for name in ("<s>", "</s>") if name in frame]
    made.backend_tokenizer.post_processor = TemplateProcessing(single=frame, special_tokens=special)
    return replace(tiny_engine().pair, tokenizer=Tokenizer(made, "tiny")), made


@pytest.mark.parametrize("kind", FRAMES)
def test_a_raw_prompt_begins_and_ends_as_by_the_tokenizers_own_call(kind):
    pair, inner = framed(FRAMES[kind])
    assert pair.encode("the cat", raw=True) == inner("the cat")["input_ids"]
    assert pair.encode("mat", raw=True, before=[("the ", "cat on ")]) == inner("the cat on mat")["input_ids"]
    # A text that names the BOS has no second one.
    named = inner("the cat", add_special_tokens=False)["input_ids"]
    assert pair.encode("<s>the cat", raw=True) == [1, *named] + [2] * ("</s>" in FRAMES[kind])
    # The template writes them itself.
    inner.chat_template = "<s>{{ messages[0]['content'] }}"
    assert pair.encode("the cat") == [1, *named]


def test_a_template_that_takes_parts_of_a_content_is_given_them():
    pair, inner = framed("$A")
    each = "{% for part in messages[0]['content'] if part['type'] == 'text' %}{{ part['text'] }}{% endfor %}"
    for template in (f"<s>user {each}", "<s>user {{ messages[0]['content'][0]['text'] }}"):
        inner.chat_template = template
        assert pair.encode("the cat") == inner("<s>user the cat")["input_ids"]


def test_a_prompt_of_which_the_tokenizer_knows_nothing_is_refused():
    pair, inner = framed("<s> $A </s>")
    inner.backend_tokenizer.model.unk_token, inner.chat_template = None, "ÄÖ"
    for prompt, raw in (("ÄÖ", True), ("the cat", False)):
        with pytest.raises(UserError, match="The tokenizer of llama knows nothing of this prompt: write another"):
            pair.encode(prompt, raw=raw)
    assert pair.encode("Ä the", raw=True)


def test_a_prompt_of_too_many_characters_is_refused_before_its_tokens_are_counted():
    pair = tiny_engine().pair
    most = pair.longest_prompt
    assert most == pair.target.context_limit * len("<39>")
    with pytest.raises(UserError, match="too long: .* tokens"):
        pair.encode("a" * most, raw=True)
    pair = replace(pair, tokenizer=SimpleNamespace(get_vocab=pair.tokenizer.get_vocab))
    for prompt, before in (("a" * (most + 1), ()), ("a", [("a" * (most - 1), "a")])):
        with pytest.raises(UserError, match=f"{most + 1:,} characters; the limit is {most:,}"):
            pair.encode(prompt, before=before)
