"""Expected tokens and speeds, against sums and simulations written out here."""

import random

import numpy as np
import pytest

from duoviz.decoding.theory import (
    Acceptance,
    acceptance_of,
    in_parallel,
    in_turn,
    in_turn_speed,
    parallel_speed,
    parallel_tokens,
    parallel_tokens_at,
    run_of,
)


def test_a_run_of_tokens():
    assert run_of(0.5, 0) == 1 and run_of(0.5, 3) == 1.875 and run_of(1.0, 4) == 5
    assert run_of(0.5, np.array([3, 0])).tolist() == [1.875, 1]


def simulated(alpha, beta, length, *, iterations=200_000):
    """Tokens an iteration of sequences whose tokens are accepted by chance."""
    draw = random.Random(0).random
    tokens, pending = 0, 0
    for _ in range(iterations):
        accepted = next((place for place in range(pending) if draw() >= alpha), pending)
        tokens += accepted + 1
        pending = length - 1 if accepted == pending and draw() < beta else 0
    return tokens / iterations


@pytest.mark.parametrize("alpha, beta, length", [(0.6, 0.7, 4), (0.9, 0.5, 8), (0.3, 0.9, 2)])
def test_tokens_are_those_of_a_simulation(alpha, beta, length):
    assert parallel_tokens(alpha, beta, length) == pytest.approx(simulated(alpha, beta, length), rel=0.01)


def test_speeds_are_tokens_over_seconds():
    def target(rows):
        return 1 + 0.1 * rows

    assert in_turn_speed(0.5, 2, target=target, draft=0.25) == pytest.approx(1.75 / (0.5 + 1.3))
    # Two iterations in three have pending tokens where π = 2.
    alpha, beta, length = 0.5, 2 / 3, 1
    assert parallel_speed(alpha, beta, length, target=target) == pytest.approx(1 / 1.1)
    slow = parallel_speed(alpha, beta, length, target=target, drafting=2.2)
    assert slow == pytest.approx(1 / 2.2)
    lengths = np.array([1, 2, 5])
    together = parallel_speed(0.6, 0.7, lengths, target=target, drafting=lengths * 0.5)
    apart = [parallel_speed(0.6, 0.7, int(length), target=target, drafting=length * 0.5) for length in lengths]
    assert together == pytest.approx(apart)


# α 3/4, β 1/2, L 3, and of all 6/10.
COUNTED = Acceptance(
    accepted=6, tested=10, pending_accepted=3, pending_tested=4, hits=1, tries=2, taken=3, sequences_taken=1
)


def test_what_is_expected_of_counted_runs():
    assert in_turn(COUNTED, [1, 3]) == pytest.approx((1.6 + 1 + 0.6 + 0.36 + 0.216) / 2)
    assert in_parallel(COUNTED, []) == parallel_tokens(0.75, 0.5, 3)
    assert in_turn(Acceptance(), [1]) is None and in_parallel(Acceptance(), []) is None
    assert parallel_tokens_at(COUNTED, 0.6) == pytest.approx(parallel_tokens(0.75, 0.5, 3))
    tokens = [parallel_tokens_at(COUNTED, rate) for rate in (0, 0.3, 0.6, 0.9, 1)]
    assert tokens == sorted(tokens) and tokens[0] == 1 and tokens[-1] == pytest.approx(3, abs=1e-4)


def test_runs_are_added():
    twice = COUNTED + COUNTED
    assert (twice.rate, twice.length, twice.tested) == (0.6, 3, 20) and COUNTED + Acceptance() == COUNTED
    assert Acceptance().alpha is Acceptance().beta is Acceptance().length is Acceptance().rate is None


def test_counted_by_kind():
    acceptance = Acceptance()
    for outcome, pending in (("hit", 2), ("rejection", 1), ("miss", 0), ("none", 0)):
        tested = pending + (outcome != "none")
        accepted = pending + (outcome == "hit")
        acceptance.count(outcome, accepted=accepted, tested=tested, pending=pending, taken=3)
    assert (acceptance.pending_accepted, acceptance.pending_tested, acceptance.hits, acceptance.tries) == (3, 4, 1, 2)
    assert (acceptance.taken, acceptance.sequences_taken, acceptance.accepted, acceptance.tested) == (3, 1, 4, 6)


def test_what_a_method_that_takes_turns_checked_was_never_pending():
    checked = [{"status": "accepted"}, {"status": "rejected"}]
    verdict = {"outcome": "rejection", "tested": 2, "accepted": 1}
    counted = acceptance_of([{"verdict": verdict, "checked": checked, "drafted": []}])
    assert counted == Acceptance(accepted=1, tested=2)
