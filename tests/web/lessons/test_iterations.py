"""Predicates find the iteration that they name, and nothing else."""

import pytest

from duoviz.web.lessons.iterations import find, matching
from duoviz.web.lessons.text import Mistake
from tests.web.lessons.made import duo_trace, iteration, node, own, trace


def found(search, *arguments):
    """What a search gives, None where the trace has nothing."""
    try:
        return search(*arguments)
    except Mistake as mistake:
        assert "has no iteration for" in str(mistake)


HOLDS = {
    "hit": [2], "miss": [1], "rejection": [3], "guesses": [1, 3], "not guesses": [2, 4], "own_token_written": [1, 3, 4],
    "draft_steps > 1": [1, 2, 3], "sequences == over_threshold": [1, 3],
    "iteration.verdict.sequence not in [none, 1]": [2], "second_choice or free_token or survivors": None,
}  # fmt: skip
FOUND = {
    "prefill": 0, "middle": 2, "last": 4, "first draft_steps > 1": 1, "last draft_steps > 1": 3,
    "after first rejection": 4, "after first rejection and own_token_written": 4,
    # The prefill, which is a hit too, is never one of them.
    "first hit": 2, "first hit and guesses": None, "first rejection and iteration.verdict.accepted": None,
    "last not guesses and own_token_written": 4, "most committed": 1, "most proposed": 1, "most sequences or 0": 2,
    # The first of the largest.
    "most discarded": 2, "most survivors": None, "most likely_first_token or 0": 3,
    "most discarded where rejection": 3, "most committed where not guesses and hit": 2,
}  # fmt: skip


def test_each_condition_holds_where_it_should():
    iterations = duo_trace()["iterations"]
    assert {condition: found(matching, condition, iterations) for condition in HOLDS} == HOLDS


def test_at_finds_the_iteration_that_it_names():
    iterations = duo_trace()["iterations"]
    assert iterations[0]["verdict"]["outcome"] == "hit"
    assert {at: found(find, at, iterations) for at in FOUND} == FOUND


@pytest.mark.parametrize(
    "text",
    [
        "", "first", "rejection", "third hit", "most", "after rejection", "first third", "first hit and",
        "most committed where", "most committed where third", "most third", "first hit where miss",
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

    def living(rest, draft=1):
        told = iteration(["b"], "rejection", draft=draft, tested=1, checked=checked)
        told["target"] |= {"start": 0.004, "end": 0.03}
        return told | {"rest": rest}

    run = trace("duotree", [iteration(["x"]), living(lost), living(kept), living(kept[:1], draft=0)])
    places = {name: matching(name, run["iterations"]) for name in ("survivors", "steps_before")}
    assert places == {"survivors": [2, 3], "steps_before": [1, 2]}
    assert find("most survivors where own_token_written", run["iterations"]) == 2


def test_of_several_one_is_found_whose_tokens_read_like_words():
    texts = ["w", " process", "CO"]
    run = trace("speculative", [iteration(["x"]), *[
        iteration(["b"], "rejection", checked=[node(text, "rejected"), own(" a")]) for text in texts
    ]])  # fmt: skip
    places = {at: find(at, run["iterations"]) for at in ("first rejection", "last rejection", "after first rejection")}
    assert places == {"first rejection": 2, "last rejection": 2, "after first rejection": 3}
    assert find("most guesses", run["iterations"]) == 1 and find("most guesses where readable", run["iterations"]) == 2
