"""γ, how many batched steps fill the same time, and where a sequence ends, by its chances."""

import pytest

from duoviz.decoding.budget import (
    draft_budget,
    plan_draft,
    prior,
    speculative_budget,
    steps_in,
    worthwhile_length,
)
from duoviz.decoding.costs import ROW_COUNTS, CostModel, step_times
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import Acceptance
from tests.decoding.made_costs import SHORT, costs


def plan(live, acceptance=None, *, longest=99, **changes):
    """A round's plan for one row after a short text."""
    settings = Settings(**changes)
    options = {"rows": 1, "context": SHORT, "longest": longest, "number": 0}
    length, _ = worthwhile_length(live, acceptance or prior(), context=SHORT)
    return plan_draft(live, settings, length=length, **options)


def test_budget_is_one_draft_step_less_than_fit():
    assert draft_budget(costs(0.01, 0.0019), rows=1, context=SHORT) == 4
    assert draft_budget(costs(0.01, 0.0045), rows=1, context=SHORT) == 2
    assert draft_budget(costs(0.001, 0.002), rows=1, context=SHORT) == 1


@pytest.mark.parametrize("offset, expected", [(-8, 1), (-2, 2), (0, 4), (2, 6)])
def test_an_offset_moves_a_measured_budget_and_no_other(offset, expected):
    live = costs(0.01, 0.0019)
    assert plan(live, budget_offset=offset).budget == expected
    assert plan(live, budget_offset=offset, budget=5).budget == 5


def test_slower_batched_steps_are_fewer():
    live = CostModel(((0.01,) * 6,) * 2, ((0.001, 0.002, 0.004, 0.004, 0.004, 0.004, 0.004, 0.004),) * 2)
    assert steps_in(0.010, step_times(live, SHORT))[:3] == (10, 6, 4)
    assert steps_in(0.0019, step_times(live, SHORT))[0] == 1


def test_a_budget_of_single_steps_is_exactly_that_many():
    live = costs(0.01, 0.0031)
    assert [plan(live, budget=steps).steps[0] for steps in range(1, 30)] == [*range(1, 30)]


def accepted(tested, right, tries, hits):
    return Acceptance(pending_tested=tested, pending_accepted=right, tries=tries, hits=hits)


def test_a_sequence_is_as_long_as_it_pays_and_no_longer_for_the_last_few_percent():
    free, dear = costs(0.01), costs(0.01, slope=0.01)
    sure, unsure = accepted(100, 90, 100, 90), accepted(100, 20, 100, 30)
    assert 20 < worthwhile_length(free, sure, context=SHORT)[0] < ROW_COUNTS[-1]
    assert worthwhile_length(dear, unsure, context=SHORT)[0] == 2
    some = costs(0.01, slope=0.0002)
    assert 2 <= worthwhile_length(some, unsure, context=SHORT)[0] < worthwhile_length(some, sure, context=SHORT)[0]


def test_no_more_is_expected_of_a_sequence_than_the_budget_allows():
    free, sure = costs(0.01), accepted(100, 90, 100, 90)
    speeds = {longest: worthwhile_length(free, sure, context=SHORT, longest=longest) for longest in (1, 2, 5)}
    alone = 1 / (free.target_time(1, SHORT) + free.overhead)
    assert [length for length, _ in speeds.values()] == [1, 2, 5]
    assert speeds[1][1] <= alone < speeds[2][1] < speeds[5][1]


def test_rows_that_cost_nothing_are_used():
    """Where the kernel multiplies four rows in the time of one, a sequence has at least four tokens."""
    times = (0.01, 0.01, 0.01, 0.014, 0.02, 0.04)
    steps = CostModel((times, times), ((0.001,) * 8,) * 2)
    assert worthwhile_length(steps, accepted(100, 60, 100, 60), context=SHORT)[0] == 4


def test_with_an_automatic_budget_no_sequence_is_longer_than_pays():
    dear, unsure = costs(0.01, 0.001, slope=0.01), accepted(100, 10, 100, 10)

    def bounds(**options):
        made = plan(dear, unsure, **options)
        return made.budget, made.longest

    assert [bounds(budget_offset=offset) for offset in (0, 3, -3)] == [(19, 2), (22, 5), (16, 1)]
    assert [bounds(**options) for options in ({"longest": 1}, {"budget": 9})] == [(19, 1), (9, 9)]
    assert bounds(budget=9, longest=4) == (9, 4)


def test_the_budget_of_turns_is_the_fastest_one():
    cheap, dear = costs(0.01, 0.0002), costs(0.01, 0.02)
    assert speculative_budget(dear, 0.6, context=SHORT) == 0
    assert speculative_budget(costs(0.01, 0.004), 0.6, context=SHORT) == 1
    assert speculative_budget(cheap, 0.9, context=SHORT) > speculative_budget(cheap, 0.5, context=SHORT) > 1
    # With a free draft and a target that takes the same time for any number of rows, more is never worse.
    assert speculative_budget(costs(0.01, 1e-9), 0.9, context=SHORT) >= 32
