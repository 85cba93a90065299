"""Prompt lookup on tiny models: the text is vanilla's, and the proposals are what a plain search finds."""

from itertools import islice, product

import pytest

from duoviz.decoding.in_turn import depths
from duoviz.decoding.prompt_lookup import prompt_lookup
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from tests.decoding.counting import counting_pair, saying
from tests.decoding.proposals import check_first, check_iteration, proposed, tokens
from tests.tiny import tiny_pair

PROMPTS = [[5, 9, 3], [2] * 12, [*range(2, 14)] * 2, [7]]
SAMPLED = {"temperature": 0.8, "top_p": 0.9, "seed": 3}


def searched(text, *, ngram, most, occurrence):
    """The length of the match, 0 without any, and the proposal, by trying every place."""
    for n in range(min(ngram, len(text)), 0, -1):
        ends = [end for end in range(n, len(text)) if text[end - n : end] == text[-n:]]
        if ends:
            end = ends[0] if occurrence == "first" else ends[-1]
            return n, text[end : end + most]
    return 0, []


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_equals_seeded_vanilla(changes):
    pair = tiny_pair()
    for prompt in PROMPTS:
        expected = tokens(vanilla(pair, prompt, Settings(max_new_tokens=40, **changes)))
        for occurrence, (ngram, most) in product(("first", "latest"), [(3, 10), (1, 3), (16, 64)]):
            sizes = {"lookup_ngram": ngram, "lookup_tokens": most, "lookup_occurrence": occurrence}
            settings = Settings(max_new_tokens=40, **sizes, **changes)
            assert tokens(prompt_lookup(pair, prompt, settings)) == expected, (prompt, sizes)


@pytest.mark.parametrize("changes", [{}, SAMPLED])
@pytest.mark.parametrize("occurrence", ["first", "latest"])
@pytest.mark.parametrize("ngram, most", [(3, 10), (1, 4), (5, 2)])
def test_proposes_what_a_plain_search_finds(changes, occurrence, ngram, most):
    sizes = {"lookup_ngram": ngram, "lookup_tokens": most, "lookup_occurrence": occurrence}
    text, count = list(PROMPTS[2]), 80
    first, *run = prompt_lookup(tiny_pair(), text, Settings(max_new_tokens=count, **sizes, **changes))
    check_first(first, text)
    text += tokens([first])
    for each in run:
        matched, found = searched(text, ngram=ngram, most=most, occurrence=occurrence)
        assert list(each.matched) == text[len(text) - matched :]
        # The target adds a token of its own.
        assert [node.token for node in proposed(each)] == found[: len(PROMPTS[2]) + count - len(text) - 1]
        assert [node.parent for node in proposed(each)] == list(range(-1, len(proposed(each)) - 1))
        text += tokens([each])


@pytest.mark.parametrize(
    "prompt, changes, expected",
    [
        ([4, 5, 6, 4, 5, 7, 8, 4, 5], {}, [6, 4, 5, 7]),
        ([4, 5, 6, 4, 5, 7, 8, 4, 5], {"lookup_occurrence": "latest"}, [7, 8, 4, 5]),
        ([9, 4, 5, 6, 4, 5, 7, 9, 4, 5], {"lookup_occurrence": "latest"}, [6, 4, 5, 7]),
        ([9, 4, 5, 6, 4, 5, 7, 9, 4, 5], {"lookup_occurrence": "latest", "lookup_ngram": 2}, [7, 9, 4, 5]),
        ([4, 5, 6, 3, 8, 6], {}, [3, 8, 6]),
        ([2, 2, 2, 2], {}, [2]),
        ([2, 2, 2, 2], {"lookup_ngram": 1}, [2, 2, 2]),
        ([4, 5, 6], {}, []),
    ],
)
def test_the_longest_ngram_and_its_first_or_latest_occurrence(prompt, changes, expected):
    settings = Settings(max_new_tokens=20, **{"lookup_tokens": 4, **changes})
    *before, last = prompt
    pair = saying(tiny_pair(), last)
    first, second = islice(prompt_lookup(pair, before, settings), 2)
    assert tokens([first]) == [last]
    assert [node.token for node in proposed(second)] == expected


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_iterations_are_consistent(changes):
    run = list(prompt_lookup(tiny_pair(), PROMPTS[1], Settings(max_new_tokens=80, **changes)))
    for each in run:
        check_iteration(each, "prompt")
    assert {each.outcome for each in run} >= ({"none", "rejection"} if changes else {"none", "rejection", "hit"})


def test_a_text_that_loops_is_proposed_and_accepted():
    run = list(prompt_lookup(counting_pair(30), [*range(30), 0, 1], Settings(max_new_tokens=55)))
    assert tokens(run) == [(2 + each) % 30 for each in range(55)]
    assert [len(each.committed) for each in run] == [1, *[11] * 4, 10]
    assert [each.outcome for each in run] == ["none", *["hit"] * 5]


def test_a_text_that_never_repeats_proposes_nothing():
    run = list(prompt_lookup(counting_pair(150), [7], Settings(max_new_tokens=100)))
    assert tokens(run) == list(range(8, 108)) and len(run) == 100
    assert all(each.outcome == "none" and not proposed(each) for each in run)


def test_the_classical_rule_has_nothing_to_divide_by():
    pair = tiny_pair()
    settings = [Settings(max_new_tokens=30, acceptance=rule, **SAMPLED) for rule in ("rejection", "coupled")]
    first, second = (tokens(prompt_lookup(pair, PROMPTS[0], each)) for each in settings)
    assert first == second


def test_stops_at_the_end_inside_an_accepted_run():
    pair = counting_pair(10, eos=frozenset({7}))
    run = list(prompt_lookup(pair, [*range(10), 0, 1], Settings(max_new_tokens=60)))
    assert tokens(run) == [2, 3, 4, 5, 6, 7] and run[-1].stop == "eos"
    assert len(run[-1].committed) <= run[-1].accepted


@pytest.mark.parametrize("count", [1, 2, 7, 23])
def test_stops_at_the_length(count):
    run = list(prompt_lookup(counting_pair(6), [*range(6), 0], Settings(max_new_tokens=count)))
    assert tokens(run) == [(1 + each) % 6 for each in range(count)] and run[-1].stop == "length"
    left = count
    for each in run:
        assert max([0, *depths(proposed(each))]) < left
        left -= len(each.committed)


@pytest.mark.parametrize("length", [1, 30, 60, 62, 63])
def test_stops_at_the_context(length):
    pair = tiny_pair(context=64)
    prompt = [2 + each % 7 for each in range(length)]
    settings = Settings(max_new_tokens=200, lookup_tokens=64)
    run = list(prompt_lookup(pair, prompt, settings))
    assert tokens(run) == tokens(vanilla(pair, prompt, settings))
    assert len(tokens(run)) == 64 - length and run[-1].stop == "context"
