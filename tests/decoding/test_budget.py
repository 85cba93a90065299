"""The cost model, γ, and how many batched steps fill the same time."""

import pytest

from duoviz.decoding.budget import (
    ROW_COUNTS,
    CostModel,
    LiveCosts,
    Sureness,
    draft_budget,
    plan_draft,
    prior,
    steps_in,
    worthwhile_length,
)
from duoviz.decoding.chances import plain
from duoviz.decoding.iteration import Node, Span
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import Acceptance
from tests.decoding.made_costs import LONG, SHORT, costs


def test_interpolates_rows_and_contexts():
    model = costs(target=0.01, slope=0.001)
    assert model.target_time(3, SHORT) == pytest.approx(0.013)
    assert model.target_time(3, (SHORT + LONG) // 2) == pytest.approx(0.0195)
    assert model.target_time(3, 1) == pytest.approx(0.013)
    # More rows than were measured are not free.
    assert model.target_time(64, SHORT) == pytest.approx(0.074)


def test_budget_is_how_many_draft_steps_fit():
    assert draft_budget(LiveCosts(costs(0.01, 0.0019)), rows=1, context=SHORT) == 5
    assert draft_budget(LiveCosts(costs(0.001, 0.002)), rows=1, context=SHORT) == 1


@pytest.mark.parametrize("offset, expected", [(-8, 1), (-2, 3), (0, 5), (2, 7)])
def test_an_offset_moves_a_measured_budget_and_no_other(offset, expected):
    live = LiveCosts(costs(0.01, 0.0019))
    measured, fixed = (Settings(budget=budget, budget_offset=offset) for budget in ("auto", 5))
    options = {"rows": 1, "context": SHORT, "longest": 99, "number": 0}
    assert plan_draft(live, prior(), Sureness(None, measured), measured, **options).budget == expected
    assert plan_draft(live, prior(), Sureness(None, fixed), fixed, **options).budget == 5


def test_slower_batched_steps_are_fewer():
    model = CostModel(((0.01,) * 6,) * 2, ((0.001, 0.002, 0.004, 0.004, 0.004, 0.004, 0.004, 0.004),) * 2)
    live = LiveCosts(model)
    assert [steps_in(0.010, live, k, SHORT) for k in (1, 2, 3)] == [10, 6, 4]
    assert steps_in(0.0019, live, 1, SHORT) == 1


def test_a_whole_budget_of_single_steps_is_exactly_that_many():
    live = LiveCosts(costs(0.01, 0.0031))
    for steps in range(1, 30):
        fixed = Settings(budget=steps)
        how = {"rows": 1, "context": SHORT, "longest": 99, "number": 0}
        plan = plan_draft(live, prior(), Sureness(None, fixed), fixed, **how)
        assert plan.steps[0] == steps


def test_follows_the_run():
    live = LiveCosts(costs(0.01, 0.002))
    before = draft_budget(live, rows=1, context=SHORT)
    for _ in range(60):
        live.observe(Span(0.0, 0.02, 1), [Span(0.0, 0.002, 1)], SHORT)
    assert draft_budget(live, rows=1, context=SHORT) == pytest.approx(2 * before, abs=1)
    live.observe(Span(0.0, 9.0, 400), [], SHORT)
    assert live.target_time(1, SHORT) == pytest.approx(0.02, rel=0.02)


def accepted(tested, right, tries, hits):
    return Acceptance(pending_tested=tested, pending_accepted=right, tries=tries, hits=hits)


def test_a_sequence_is_as_long_as_it_pays():
    free, dear = LiveCosts(costs(0.01)), LiveCosts(costs(0.01, slope=0.01))
    sure, unsure = accepted(100, 90, 100, 90), accepted(100, 20, 100, 30)
    assert worthwhile_length(free, sure, context=SHORT) == ROW_COUNTS[-1]
    assert worthwhile_length(dear, unsure, context=SHORT) == 2
    some = LiveCosts(costs(0.01, slope=0.0002))
    assert 2 < worthwhile_length(some, unsure, context=SHORT) < worthwhile_length(some, sure, context=SHORT)


def test_rows_that_cost_nothing_are_used():
    """Where the kernel multiplies four rows in the time of one, a sequence has at least four tokens."""
    times = (0.01, 0.01, 0.01, 0.014, 0.02, 0.04)
    steps = LiveCosts(CostModel((times, times), ((0.001,) * 8,) * 2))
    assert worthwhile_length(steps, accepted(100, 45, 100, 45), context=SHORT) == 4


def test_with_an_automatic_budget_no_sequence_is_longer_than_pays():
    dear, unsure = LiveCosts(costs(0.01, 0.001, slope=0.01)), accepted(100, 10, 100, 10)

    def plan(longest=99, **settings):
        chosen, how = Settings(**settings), {"rows": 1, "context": SHORT, "longest": longest, "number": 0}
        return plan_draft(dear, unsure, Sureness(None, chosen), chosen, **how)

    assert (plan().budget, plan().longest) == (20, 2)
    assert (plan(budget_offset=3).budget, plan(budget_offset=3).longest) == (23, 5)
    assert (plan(budget_offset=-3).budget, plan(budget_offset=-3).longest) == (17, 1)
    assert plan(longest=1).longest == 1
    assert (plan(budget=9).budget, plan(budget=9).longest) == (9, 9)
    assert plan(budget=9, longest=4).longest == 4


def test_the_authors_mode_drafts_to_one_length_whatever_the_chances():
    dear, unsure = LiveCosts(costs(0.01, 0.001, slope=0.01)), accepted(100, 10, 100, 10)
    plans = []
    for mode in ("batched", "paper"):
        chosen = Settings(draft_mode=mode)
        how = {"rows": 1, "context": SHORT, "longest": 99, "number": 0}
        plans.append(plan_draft(dear, unsure, Sureness(plain(), chosen), chosen, **how))
    assert plans[0].worth and plans[0].longest > 2
    assert plans[1].worth is None and plans[1].longest == 2


def test_where_chances_are_known_an_average_sequence_has_the_length_that_pays():
    """Tokens of chance 0.6 are let go on until the L-th, whichever way the first one counts."""
    settings = Settings()
    for first, counted in ((True, 3), (False, 2)):
        most, worth = Sureness(plain(), settings).bounds(3, 0.6, first=first)
        assert most == ROW_COUNTS[-1] - 1 and worth.least == pytest.approx(0.6**counted) and worth.first == first
    assert Sureness(None, settings).bounds(3, 0.6, first=True) == (3, None)


def test_chances_follow_the_run():
    sureness = Sureness(plain(), Settings())
    tokens = [Node(1, -1, "draft", q=0.5, status=status) for status in ("accepted", "accepted", "discarded")]
    sureness.observe(tokens)
    more = sureness.bounds(3, 0.6, first=True)[1].trust
    sureness.observe([Node(1, -1, "draft", q=0.5, status="rejected")] * 9)
    assert sureness.bounds(3, 0.6, first=True)[1].trust < 1 < more == pytest.approx(10 / 9, abs=0.01)
