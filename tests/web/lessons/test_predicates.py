"""Predicates find the iteration that they name, and nothing else."""

import pytest

from duoviz.web.lessons.predicates import CONDITIONS, MEASURES, find, is_predicate, matching
from tests.web.lessons.made import duo_trace, iteration, node, own, trace, vanilla_trace

HOLDS = {
    "hit": [2],
    "miss": [1],
    "rejection": [3],
    "nothing proposed": [4],
    "nothing pending": [2, 4],
    "something pending": [1, 3],
    "all accepted": [],
    "some accepted": [],
    "three guesses": [],
    "free token accepted": [],
    "second choice accepted": [],
    "one step": [],
    "several steps": [1, 2, 3],
    "none accepted": [3],
    "one sequence": [3],
    "several sequences": [1, 2],
    "few sequences": [1, 2],
    "three sequences": [2],
    "other sequence taken": [2],
    "discarded tokens": [1, 2, 3],
    "budget left": [2],
}
MOST = {
    "committed": 1,
    "proposed": 1,
    "sequences": 2,
    "discarded": 2,
    "target idle": 1,
    "draft idle": 4,
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
        "most discarded where rejection": 3,
        "most committed where nothing pending and hit": 2,
        "most committed where all accepted": None,
    }
    assert {predicate: find(predicate, iterations) for predicate in found} == found
    assert all(is_predicate(predicate) for predicate in found)


def test_what_a_trace_does_not_have_is_none():
    iterations = vanilla_trace()["iterations"]
    for predicate in ("first rejection", "last hit", "after first miss", "most sequences"):
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
        "most committed where",
        "most committed where third",
        "first hit where miss",
    ],
)
def test_other_words_are_no_predicate(text):
    assert not is_predicate(text)


def test_what_a_tree_of_guesses_holds():
    """What a look-up found cost no draft step; a second choice is a token that the draft did not put first there."""
    checked = [
        node("a", "discarded", q=0.5), node("b", "accepted", q=0.3),
        node("c", "accepted", parent=1, q=None, source="prompt"), own("d", parent=2),
    ]  # fmt: skip
    run = trace("duotree", [iteration(["x"]), iteration(["b", "c", "d"], "hit", draft=1, accepted=2, checked=checked)])
    for condition in ("three guesses", "free token accepted", "second choice accepted", "one step"):
        assert matching(condition, run["iterations"]) == [1]
    checked[0]["q"], checked[2]["source"] = 0.2, "draft"
    for condition in ("free token accepted", "second choice accepted"):
        assert matching(condition, run["iterations"]) == []


def test_several_accepted_and_then_a_rejection():
    run = trace("speculative", [iteration(["a"]), iteration(["b", "c", "d"], "rejection", tested=3, accepted=2)])
    assert matching("some accepted", run["iterations"]) == [1]
    run = trace("speculative", [iteration(["a"]), iteration(["b", "c", "d"], "hit", tested=2, accepted=2)])
    assert matching("all accepted", run["iterations"]) == [1]
