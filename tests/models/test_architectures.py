"""Architectures of transformers that differ in what they can do: each method's text to the end of the context, and to
an end token that only config.json names."""

import pytest

from tests.benchmarks import architectures
from tests.benchmarks.architectures import BEGIN, CHAIN, CONTEXT, END, OWN, PAGE, TREE, Found, check

# The context has another name in MPT, and OPT's table of positions has two rows more.
WAYS = {"qwen2": OWN, "opt": TREE, "mpt": CHAIN, "gemma2": CHAIN}


@pytest.mark.parametrize("name", WAYS)
def test_every_method_writes_what_transformers_writes(name):
    assert check(name) == Found(name, WAYS[name], f"context {CONTEXT}", [])


def test_the_page_says_what_becomes_of_every_architecture():
    page = PAGE.read_text()
    text = page[page.index(BEGIN) : page.index(END)]
    missing = [name for name in architectures.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if f"`{name}`" not in text]
    assert not missing
