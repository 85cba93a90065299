"""Prompt lookup on tiny models: its proposals are what a plain search finds."""

import pytest

from duoviz.decoding.settings import Settings
from tests.decoding.proposals import proposed, tokens
from tests.decoding.stores import searched
from tests.tiny import run, tiny_engine

PROMPT = [*range(2, 14)] * 2


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.8, "top_p": 0.9, "seed": 3}])
@pytest.mark.parametrize("occurrence", ["first", "latest"])
@pytest.mark.parametrize("ngram, most", [(3, 10), (1, 4), (5, 2)])
def test_proposes_what_a_plain_search_finds(changes, occurrence, ngram, most):
    sizes = {"lookup_ngram": ngram, "lookup_tokens": most, "lookup_occurrence": occurrence}
    text, count = list(PROMPT), 80
    first, *iterations = run(tiny_engine(), "prompt_lookup", text, Settings(max_new_tokens=count, **sizes, **changes))
    text += tokens([first])
    for iteration in iterations:
        # The target adds a token of its own.
        room = len(PROMPT) + count - len(text) - 1
        matched, found = searched([text], text, longest=ngram, shortest=1, depth=min(most, room))
        tree = proposed(iteration)
        assert list(iteration.matched) == text[len(text) - matched :]
        assert [node.token for node in tree] == (found[0 if occurrence == "first" else -1] if found else [])
        assert [node.parent for node in tree] == list(range(-1, len(tree) - 1))
        text += tokens([iteration])
