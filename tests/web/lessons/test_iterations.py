"""Predicates find the iteration that they name, and nothing else."""

import pytest

from duoviz.web.lessons.iterations import CONDITIONS, MEASURES, find, matching
from duoviz.web.lessons.text import Mistake
from tests.web.lessons.made import duo_trace, iteration, node, own, trace


def found(search, *arguments):
    """What a search gives, None where the trace has nothing."""
    try:
        return search(*arguments)
    except Mistake as mistake:
        assert "has no such iteration" in str(mistake)


# All others hold nowhere.
HOLDS = {
    "hit": [2], "miss": [1], "rejection": [3], "nothing pending": [2, 4],
    "something pending": [1, 3], "own token written": [1, 3, 4], "several steps": [1, 2, 3],
    "one sequence": [3], "few sequences": [1],
    "other sequence taken": [2], "budget left": [2],
}  # fmt: skip
MOST = {
    "committed": 1, "proposed": 1, "sequences": 2, "discarded": 2, "survivors": None,
    "likely first token": 3,
}  # fmt: skip


def test_each_condition_holds_where_it_should():
    iterations = duo_trace()["iterations"]
    assert {name: places for name in CONDITIONS if (places := found(matching, name, iterations))} == HOLDS


def test_the_prefill_is_never_one_of_them():
    assert duo_trace()["iterations"][0]["verdict"]["outcome"] == "hit"
    assert (find("first hit", duo_trace()["iterations"]), find("prefill", duo_trace()["iterations"])) == (2, 0)


def test_the_first_of_the_largest_is_found():
    assert {name: found(find, f"most {name}", duo_trace()["iterations"]) for name in MEASURES} == MOST


def test_first_last_after_and_places():
    iterations = duo_trace()["iterations"]
    wanted = {
        "first several steps": 1,
        "last several steps": 3,
        "after first rejection": 4,
        "after first rejection and own token written": 4,
        "middle": 2,
        "last": 4,
        "first some accepted": None,
        "first hit and nothing pending": 2,
        "last nothing pending and own token written": 4,
        "first hit and something pending": None,
        "most discarded where rejection": 3,
        "most committed where nothing pending and hit": 2,
        "most committed where some accepted": None,
    }
    assert {predicate: found(find, predicate, iterations) for predicate in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "first", "first  hit", "rejection", "third hit", "most", "most rejection", "after rejection",
        "first committed", "first hit and", "first hit and third", "most committed and discarded",
        "most committed where", "most committed where third", "first hit where miss",
    ],
)  # fmt: skip
def test_other_words_are_no_predicate(text):
    with pytest.raises(Mistake):
        find(text, duo_trace()["iterations"])


def test_a_tree_that_lives_on():
    """Of the unverified nodes, the target's own token and its descendants."""
    checked = [node("a", "rejected"), own("b")]
    lost = [node("c", "discarded", parent=0)]
    kept = [node("b", "pending"), node("d", "pending", parent=2)]

    def living(rest, gain=None, draft=1):
        told = iteration(["b"], "rejection", draft=draft, tested=1, checked=checked)
        told["target"] |= {"start": 0.004, "end": 0.03}
        return told | {"rest": rest, "start": {"expected": 1.5, "rate": 50.0, "gain": gain, "seconds": 0.001}}

    run = trace("duotree", [iteration(["x"]), living(lost, 0.1), living(kept), living(kept[:1], 0.1, draft=0)])
    places = {name: matching(name, run["iterations"]) for name in ("tree lives on", "step declined")}
    assert places == {"tree lives on": [2, 3], "step declined": [1]}
    assert find("most survivors where tree lives on", run["iterations"]) == 2
    for change in ({"text": ""}, {"source": "prompt"}):
        ended = run["iterations"][2] | {"committed": [run["iterations"][2]["committed"][0] | change]}
        assert found(matching, "tree lives on", [run["iterations"][0], ended]) is None
