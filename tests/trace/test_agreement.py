"""Whether two runs wrote the same text, on hand-made traces."""

import pytest

from duoviz.trace.agreement import agreement, first_difference, sentence, worst, written
from tests.trace.made import made, step

DELTA = 2e-4


def run(ids, *, gap=1.0, method="vanilla", **about):
    return written(made(method, [step(0.1, ids=[id], gap=gap) for id in ids], **about))


def test_the_same_tokens_are_equal_however_they_came():
    together = written(made("duodecoding", [step(0.1, ids=[1, 2]), step(0.1, ids=[3])]))
    found = agreement(run([1, 2, 3]), together, DELTA)
    assert (found["verdict"], found["tokens"], found["place"]) == ("equal", 3, None)
    assert sentence(found) == "Both wrote the same 3 tokens."


@pytest.mark.parametrize("gaps, verdict", [((1e-4, 2e-4), "tie"), ((1e-4, 3e-4), "defect"), ((0.5, 0.0), "defect")])
def test_a_difference_is_a_tie_only_if_both_runs_were_within_delta_there(gaps, verdict):
    first, second = run([1, 2, 3], gap=gaps[0]), run([1, 2, 4, 5], gap=gaps[1])
    found = agreement(first, second, DELTA)
    assert (found["verdict"], found["tokens"], found["place"]) == (verdict, 2, 2)
    assert found["margin"] == max(gaps) and found["delta"] == DELTA
    told = sentence(found)
    assert told.startswith("The texts differ from token 3 on")
    assert f"{max(gaps):.5f}" in told and f"{DELTA:.5f}" in told and ("is a bug" in told) == (verdict == "defect")


def test_a_token_that_had_no_rival_is_no_tie():
    found = agreement(run([1], gap=None), run([2], gap=0.0), DELTA)
    assert found["verdict"] == "defect" and found["margin"] is None and "could not have written both" in sentence(found)


def test_a_run_that_was_cut_is_compared_as_far_as_it_went():
    for stopped in ("stopped", "time", "error"):
        found = agreement(run([1, 2], stopped=stopped), run([1, 2, 3]), DELTA)
        assert (found["verdict"], found["tokens"]) == ("equal", 2)
    # One that ended by itself had no more to write.
    assert first_difference(run([1, 2], stopped="eos"), run([1, 2, 3])) == 2
    assert agreement(run([1, 2]), run([1, 2, 3], stopped="time"), DELTA)["verdict"] == "defect"


def test_the_classical_rule_writes_a_text_of_its_own():
    rejection = {"acceptance": "rejection", "temperature": 0.8}
    drawn = run([1, 5], method="speculative", draft="CPU core 0", **rejection)
    assert agreement(run([1, 2], **rejection), drawn, DELTA)["verdict"] == "incomparable"
    greedy = run([1, 5], method="speculative", draft="CPU core 0", acceptance="rejection")
    assert agreement(run([1, 2]), greedy, DELTA)["verdict"] == "defect"


def test_the_worst_of_several_rounds_counts():
    equal = agreement(run([1]), run([1]), DELTA)
    tie = agreement(run([1], gap=1e-5), run([2], gap=1e-5), DELTA)
    defect = agreement(run([1]), run([2]), DELTA)
    assert worst([equal, tie, equal]) == tie and worst([tie, defect, equal]) == defect
