"""Architectures of transformers that differ in what they can do: each method's text to the end of the context, and to
an end token that only config.json names."""

import pytest

from duoviz.decoding import METHODS
from tests.benchmarks import architectures
from tests.benchmarks.architectures import BEGIN, CHAIN, CONTEXT, END, OWN, PAGE, REFUSED, TREE, Found, check

# The context has another name in MPT and GPT-J, and OPT's table of positions has two rows more.
WAYS = {"qwen2": OWN, "gptj": TREE, "opt": TREE, "mpt": CHAIN, "gemma2": CHAIN}


@pytest.mark.parametrize("name", WAYS)
def test_every_method_writes_what_transformers_writes(name):
    assert check(name) == Found(name, WAYS[name], f"context {CONTEXT}", [])


def test_a_model_that_is_refused_says_why():
    why = "it cannot drop rejected tokens from its cache: choose another model."
    assert check("rwkv") == Found("rwkv", REFUSED, why)


def test_another_text_is_a_defect_of_every_method(monkeypatch):
    monkeypatch.setattr("duoviz.models.load.end_tokens", lambda *_: frozenset({2}))
    defects = check("qwen2").defects
    assert [defect.split(",")[0] for defect in defects] == list(METHODS)


def test_the_page_says_what_becomes_of_every_architecture():
    page = PAGE.read_text()
    text = page[page.index(BEGIN) : page.index(END)]
    missing = [name for name in architectures.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if f"`{name}`" not in text]
    assert not missing
