"""Metrics on a trace that is small enough to work out by hand."""

import pytest

from duoviz.decoding.theory import acceptance_of
from duoviz.trace.metrics import acceptances, common, forward_seconds, lost, metrics
from tests.trace.made import node


def iteration(start, end, draft, sync, checked, drafted, outcome, tested, accepted, sources):
    return {
        "target": {"start": start, "end": end, "rows": 1},
        "draft": [{"start": a, "end": b, "tokens": 1} for a, b in draft],
        "sync": sync,
        "checked": checked,
        "drafted": drafted,
        "verdict": {"outcome": outcome, "tested": tested, "accepted": accepted, "sequence": None},
        "committed": [{"source": source} for source in sources],
    }


TRACE = {
    "header": {"target": {"device": "core 1"}, "draft": {"device": "core 0"}, "can_overlap": True},
    "iterations": [
        iteration(
            0.0, 1.0, [(0.5, 1.5)], 2.0, [],
            [node("accepted"), node("pending"), node("pending")], "hit", 1, 1, ["draft"],
        ),
        iteration(
            2.0, 3.0, [(2.0, 3.5)], 4.0,
            [node("accepted"), node("rejected"), node("correction", "target")],
            [node("discarded"), node("discarded")], "rejection", 2, 1, ["draft", "target"],
        ),
    ],
}  # fmt: skip


def test_by_hand():
    assert metrics(TRACE) == {
        "tps": 3 / 4,
        "ttft": 2.0,
        "tau": 1.5,
        "acceptance": 2 / 3,
        "yield": 2 / 5,
        "overlap": 1.5 / 4,
        "idle_target": 0.5,
        "idle_draft": 1 - 2.5 / 4,
        # The first step read the prompt; all of the second hung on the rejected token.
        "lost_miss": 0.0,
        "lost_rejection": 1.5,
        # Half a second in each iteration only the draft was busy.
        "lost_waiting": 1.0,
        "new_tokens": 3,
        "target_forwards": 2,
        "wall": 4.0,
        "verifications": 2,
        "drafted": 5,
        "accepted": 2,
        "mean_acceptance_length": 2.0,
        "acceptance_rate": 2 / 5,
        "acceptance_by_position": [1.0],
    }
    shared = {**TRACE, "header": {**TRACE["header"], "can_overlap": False}}
    assert metrics(shared)["overlap"] is None
    found = acceptance_of(TRACE["iterations"])
    assert (found.alpha, found.beta, found.length) == (0.5, 1.0, 3.0)


def test_of_a_chain_only_what_was_not_accepted_is_lost():
    checked = [node("accepted"), node("rejected"), node("discarded"), node("discarded"), node("correction", "target")]
    first = iteration(0.1, 1.0, [(0.0, 0.1)], 1.0, checked, [], "rejection", 2, 1, ["draft", "target"])
    second = iteration(1.4, 2.4, [(1.0, 1.4)], 2.4, checked, [], "rejection", 2, 1, ["draft", "target"])
    found = lost([first, second])
    assert found == pytest.approx({"miss": 0.0, "rejection": 0.75 * 0.4, "waiting": 0.5})
    assert forward_seconds({"iterations": [first, second]}, rows=1) == pytest.approx(0.95)
    assert forward_seconds({"iterations": [first, second]}, rows=2) is None


def test_of_a_tree_that_lives_on_it_is_not_told_what_was_thrown_away():
    one = iteration(0.1, 1.0, [(0.0, 0.1)], 1.0, [node("rejected")], [], "rejection", 1, 0, ["target"])
    living = one | {"rest": []}
    assert lost([living]) == {"miss": None, "rejection": None, "waiting": pytest.approx(0.1)}


def test_a_run_stopped_before_its_first_token():
    empty = metrics({"header": None, "iterations": []})
    assert empty["tps"] is None and empty["new_tokens"] == 0
    assert set(empty) == set(metrics(TRACE))


def test_acceptance_by_position_is_of_the_iterations_that_verified_something():
    def wrote(tested, *sources):
        return iteration(0.0, 1.0, [], 1.0, [node("accepted")] * tested, [], "hit", tested, tested, sources)

    found = acceptances(
        [wrote(0, "target"), wrote(3, "draft", "draft", "draft", "target"), wrote(1, "draft", "target")]
    )
    assert found["acceptance_by_position"] == [1.0, 0.5, 0.5] and found["mean_acceptance_length"] == 3.0
    assert acceptances([wrote(0, "target")])["acceptance_by_position"] == []


def test_common_time():
    assert common([(0, 2), (3, 5)], [(1, 4)]) == 2
    assert common([], [(0, 1)]) == 0


def test_lookaheads_window_is_not_proposed():
    checked = [node("accepted", "lookahead"), node("rejected", "lookahead"), *[node("window", "lookahead")] * 5]
    checked.append(node("correction", "target"))
    run = iteration(0.0, 1.0, [], 1.0, checked, [], "rejection", 2, 1, ["lookahead", "target"])
    trace = {"header": {"target": {}, "draft": None, "can_overlap": False}, "iterations": [run]}
    assert metrics(trace)["yield"] == 1 / 2 and metrics(trace)["acceptance"] == 1 / 2
