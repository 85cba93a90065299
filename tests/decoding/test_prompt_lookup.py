"""Prompt lookup on tiny models: its proposals are what a plain search finds."""

import pytest

from duoviz.decoding.settings import Settings
from tests.decoding.proposals import proposed, tokens
from tests.tiny import run, tiny_engine

PROMPT = [*range(2, 14)] * 2


def searched(text, *, ngram, most, occurrence):
    """The length of the match, 0 without any, and the proposal, by trying every place."""
    for n in range(min(ngram, len(text)), 0, -1):
        ends = [end for end in range(n, len(text)) if text[end - n : end] == text[-n:]]
        if ends:
            end = ends[0] if occurrence == "first" else ends[-1]
            return n, text[end : end + most]
    return 0, []


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.8, "top_p": 0.9, "seed": 3}])
@pytest.mark.parametrize("occurrence", ["first", "latest"])
@pytest.mark.parametrize("ngram, most", [(3, 10), (1, 4), (5, 2)])
def test_proposes_what_a_plain_search_finds(changes, occurrence, ngram, most):
    sizes = {"lookup_ngram": ngram, "lookup_tokens": most, "lookup_occurrence": occurrence}
    text, count = list(PROMPT), 80
    first, *iterations = run(tiny_engine(), "prompt_lookup", text, Settings(max_new_tokens=count, **sizes, **changes))
    text += tokens([first])
    for iteration in iterations:
        matched, expected = searched(text, ngram=ngram, most=most, occurrence=occurrence)
        tree = proposed(iteration)
        assert list(iteration.matched) == text[len(text) - matched :]
        # The target adds a token of its own.
        assert [node.token for node in tree] == expected[: len(PROMPT) + count - len(text) - 1]
        assert [node.parent for node in tree] == list(range(-1, len(tree) - 1))
        text += tokens([iteration])
