"""A prompt's tokens: chat template, format of the pair, or plain text."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from duoviz.models.load import load_pair
from duoviz.models.prompt import PromptError
from tests.models.folders import folder, llama, tokenizer
from tests.tiny import tiny_engine


def test_a_pairs_own_prompt_format():
    pair = replace(tiny_engine().pair, prompt_format="USER: {prompt} ASSISTANT:")
    assert pair.encode("hi {x}") == pair.tokenizer("USER: hi {x} ASSISTANT:")["input_ids"]
    assert pair.encode("hi {x}", raw=True) == pair.tokenizer("hi {x}")["input_ids"]


def test_a_chat_template_is_used_and_a_base_model_goes_on_with_the_text(two, tmp_path):
    pair = load_pair(f"{two[0]} + {two[1]}")
    assert pair.encode("the cat") == pair.tokenizer("user the cat ", add_special_tokens=False)["input_ids"]
    base = folder(tmp_path / "base", llama(), tokenizer(template=None))
    assert load_pair(f"{base} + {base}").encode("the cat") == pair.tokenizer("the cat")["input_ids"]


def test_a_prompt_of_too_many_characters_is_refused_before_its_tokens_are_counted():
    pair = tiny_engine().pair
    most = pair.longest_prompt
    assert most == pair.target.context_limit * len("<39>")
    with pytest.raises(PromptError, match="too long: .* tokens"):
        pair.encode("a" * most, raw=True)
    pair = replace(pair, tokenizer=SimpleNamespace(get_vocab=pair.tokenizer.get_vocab))
    for prompt, before in (("a" * (most + 1), ()), ("a", [("a" * (most - 1), "a")])):
        with pytest.raises(PromptError, match=f"{most + 1:,} characters; the limit is {most:,}"):
            pair.encode(prompt, before=before)
