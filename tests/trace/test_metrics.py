"""Metrics on a trace that is small enough to work out by hand."""

import pytest

from duoviz.decoding.theory import acceptance_of
from duoviz.trace.metrics import acceptances, forward_seconds, lost, metrics, total
from tests.trace.made import made, node, step

CHECKED = [node("accepted"), node("rejected"), node("correction", "target")]
WRITTEN = {"ids": [7, 7], "sources": ["draft", "target"]}
STEPS = [
    step(1, beside=2, outcome="hit", tested=1, accepted=1, sources=["draft"],
         drafted=[node("accepted"), node("pending"), node("pending")]),
    step(1, before=1, outcome="rejection", tested=2, accepted=1, **WRITTEN,
         checked=CHECKED, drafted=[node("discarded"), node("discarded")]),
]  # fmt: skip
TRACE = made("duodecoding", STEPS, draft="CPU core 0")


def test_by_hand():
    assert metrics(TRACE) == {
        "tps": 3 / 4,
        "ttft": 2,
        "tau": 1.5,
        "acceptance": 2 / 3,
        "yield": 2 / 5,
        "overlap": 1 / 4,
        "idle_target": 1 / 2,
        "idle_draft": 1 / 4,
        # The first step read the prompt; all of the second hung on the rejected token.
        "lost_miss": 0,
        "lost_rejection": 1,
        # One second of each iteration only the draft was busy.
        "lost_waiting": 2,
        "new_tokens": 3,
        "target_forwards": 2,
        "wall": 4,
        "verifications": 2,
        "drafted": 5,
        "accepted": 2,
        "mean_acceptance_length": 2.0,
        "acceptance_rate": 2 / 5,
        "acceptance_by_position": [1.0],
    }
    shared = TRACE | {"header": TRACE["header"] | {"can_overlap": False}}
    assert metrics(shared)["overlap"] is None
    found = acceptance_of(TRACE["iterations"])
    assert (found.alpha, found.beta, found.length) == (0.5, 1.0, 3.0)


def test_of_a_chain_only_what_was_not_accepted_is_lost():
    checked = [*CHECKED[:2], node("discarded"), node("discarded"), CHECKED[2]]
    steps = [step(0.9, before=before, outcome="rejection", tested=2, accepted=1, checked=checked, **WRITTEN)
             for before in (0.1, 0.4)]  # fmt: skip
    # The target reads the prompt alone, and then the draft does.
    trace = made("speculative", [step(0.9), *steps])
    assert lost(trace["iterations"]) == pytest.approx({"miss": 0.0, "rejection": 0.75 * 0.4, "waiting": 0.5})
    assert forward_seconds(trace, rows=1) == pytest.approx(0.9) and forward_seconds(trace, rows=2) is None


def test_of_a_tree_that_lives_on_it_is_not_told_what_was_thrown_away():
    living = step(0.9, before=0.1, outcome="rejection", tested=1, checked=[node("rejected")]) | {"rest": []}
    assert lost([living]) == {"miss": None, "rejection": None, "waiting": pytest.approx(0.1)}


def test_a_run_stopped_before_its_first_token():
    empty = metrics({"header": None, "iterations": []})
    assert empty["tps"] is None and empty["new_tokens"] == 0
    assert set(empty) == set(metrics(TRACE))


def test_acceptance_by_position_is_of_the_iterations_that_verified_something():
    def wrote(tested, *sources):
        checked = [node("accepted")] * tested
        return step(1, outcome="hit", tested=tested, checked=checked, ids=range(len(sources)), sources=sources)

    found = acceptances(
        [wrote(0, "target"), wrote(3, "draft", "draft", "draft", "target"), wrote(1, "draft", "target")]
    )
    assert found["acceptance_by_position"] == [1.0, 0.5, 0.5] and found["mean_acceptance_length"] == 3.0
    assert acceptances([wrote(0, "target")])["acceptance_by_position"] == []


def test_time_that_intervals_share_counts_once():
    assert total([(3, 5), (0, 2), (1, 4), (7, 8), (7.25, 7.5)]) == 6
    assert total([]) == 0


def test_lookaheads_window_is_not_proposed():
    checked = [node("accepted", "lookahead"), node("rejected", "lookahead"), *[node("window", "lookahead")] * 5]
    found = metrics(made("lookahead", [step(1, tested=2, accepted=1, sources=["lookahead"], checked=checked)]))
    assert found["yield"] == found["acceptance"] == 1 / 2
