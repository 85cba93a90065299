"""Predicates find the iteration that they name, and nothing else."""

import pytest

from duoviz.web.lessons.predicates import CONDITIONS, MEASURES, find, is_predicate, known_outcomes, matching
from tests.web.lessons.made import duo_trace, iteration, trace, vanilla_trace

HOLDS = {
    "hit": [2],
    "miss": [1],
    "rejection": [3],
    "nothing proposed": [4],
    "nothing pending": [2, 4],
    "something pending": [1, 3],
    "all accepted": [],
    "some accepted": [],
    "none accepted": [3],
    "one sequence": [3],
    "several sequences": [1, 2],
    "three sequences": [2],
    "other sequence taken": [2],
    "discarded tokens": [1, 2, 3],
    "budget left": [2],
    "two distributions": [1],
}
MOST = {
    "committed": 1,
    "proposed": 1,
    "sequences": 2,
    "discarded": 2,
    "target idle": 1,
    "draft idle": 4,
    "shared probability": 1,
    "likely first token": 3,
}


def test_each_condition_holds_where_it_should():
    iterations = duo_trace()["iterations"]
    assert {name: matching(name, iterations) for name in CONDITIONS} == HOLDS


def test_the_prefill_is_never_one_of_them():
    assert duo_trace()["iterations"][0]["verdict"]["outcome"] == "hit"
    assert find("first hit", duo_trace()["iterations"]) == 2
    assert find("prefill", duo_trace()["iterations"]) == 0


@pytest.mark.parametrize("name", MEASURES)
def test_the_first_of_the_largest_is_found(name):
    assert find(f"most {name}", duo_trace()["iterations"]) == MOST[name]


def test_first_last_after_and_places():
    iterations = duo_trace()["iterations"]
    found = {
        "first discarded tokens": 1,
        "last discarded tokens": 3,
        "after first rejection": 4,
        "after first nothing proposed": None,
        "middle": 2,
        "last": 4,
        "first all accepted": None,
        "first hit and nothing pending": 2,
        "last nothing pending and nothing proposed": 4,
        "first hit and something pending": None,
    }
    assert {predicate: find(predicate, iterations) for predicate in found} == found
    assert all(is_predicate(predicate) for predicate in found)


def test_what_a_trace_does_not_have_is_none():
    iterations = vanilla_trace()["iterations"]
    for predicate in ("first rejection", "last hit", "after first miss", "most sequences", "most shared probability"):
        assert find(predicate, iterations) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "first",
        "first  hit",
        "rejection",
        "third hit",
        "most",
        "most rejection",
        "after rejection",
        "first committed",
        "first hit and",
        "first hit and third",
        "most committed and discarded",
    ],
)
def test_other_words_are_no_predicate(text):
    assert not is_predicate(text)


def test_both_probabilities_are_known_of_refused_first_tokens_and_the_target_s_own():
    outcomes = known_outcomes(duo_trace()["iterations"][1])
    assert [(each["text"], each["p"], each["q"]) for each in outcomes] == [
        ("is", 0.2, 0.5),
        ("has", 0.1, 0.3),
        ("was", 0.6, 0.1),
    ]


def test_several_accepted_and_then_a_rejection():
    run = trace("speculative", [iteration(["a"]), iteration(["b", "c", "d"], "rejection", tested=3, accepted=2)])
    assert matching("some accepted", run["iterations"]) == [1]
    run = trace("speculative", [iteration(["a"]), iteration(["b", "c", "d"], "hit", tested=2, accepted=2)])
    assert matching("all accepted", run["iterations"]) == [1]
