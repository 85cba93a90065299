"""The cost model, γ, and how many batched steps fill the same time."""

import json
import math
from functools import partial
from pathlib import Path

import pytest

from duoviz.decoding import budget
from duoviz.decoding.budget import (
    CONTEXTS,
    CostModel,
    LiveAcceptance,
    LiveCosts,
    cost_model,
    draft_budget,
    plan_draft,
    steps_in,
    worthwhile_length,
)
from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.settings import Settings
from duoviz.models.linear import ROW_COUNTS
from tests.tiny import tiny_pair

SHORT, LONG = CONTEXTS


def costs(target=0.01, draft=0.002, slope=0.0):
    times = tuple(target + slope * rows for rows in ROW_COUNTS)
    return CostModel((times, tuple(2 * t for t in times)), ((draft,) * 8, (draft,) * 8))


def test_interpolates_rows_and_contexts():
    model = costs(target=0.01, slope=0.001)
    assert model.target_time(3, SHORT) == pytest.approx(0.013)
    assert model.target_time(3, (SHORT + LONG) // 2) == pytest.approx(0.0195)
    assert model.target_time(3, 1) == pytest.approx(0.013)


def test_budget_is_how_many_draft_steps_fit():
    assert draft_budget(LiveCosts(costs(0.01, 0.0019)), rows=1, context=SHORT) == 5
    assert draft_budget(LiveCosts(costs(0.001, 0.002)), rows=1, context=SHORT) == 1


@pytest.mark.parametrize("offset, expected", [(-8, 1), (-2, 3), (0, 5), (2, 7)])
def test_an_offset_moves_a_measured_budget_and_no_other(offset, expected):
    live = LiveCosts(costs(0.01, 0.0019))
    measured, fixed = (Settings(budget=budget, budget_offset=offset) for budget in ("auto", 5))
    options = {"rows": 1, "context": SHORT, "longest": 99, "number": 0}
    assert plan_draft(live, LiveAcceptance(), measured, **options).budget == expected
    assert plan_draft(live, LiveAcceptance(), fixed, **options).budget == 5


def test_slower_batched_steps_are_fewer():
    model = CostModel(((0.01,) * 6,) * 2, ((0.001, 0.002, 0.004, 0.004, 0.004, 0.004, 0.004, 0.004),) * 2)
    live = LiveCosts(model)
    assert [steps_in(0.010, live, k, SHORT) for k in (1, 2, 3)] == [10, 6, 4]
    assert steps_in(0.0019, live, 1, SHORT) == 1


def test_a_whole_budget_of_single_steps_is_exactly_that_many():
    live = LiveCosts(costs(0.01, 0.0031))
    for steps in range(1, 30):
        plan = plan_draft(live, LiveAcceptance(), Settings(budget=steps), rows=1, context=SHORT, longest=99, number=0)
        assert plan.steps[0] == steps


def test_follows_the_run():
    live = LiveCosts(costs(0.01, 0.002))
    before = draft_budget(live, rows=1, context=SHORT)
    for _ in range(60):
        live.observe(Span(0.0, 0.02, 1), [Span(0.0, 0.002, 1)], SHORT)
    assert draft_budget(live, rows=1, context=SHORT) == pytest.approx(2 * before, abs=1)
    live.observe(Span(0.0, 9.0, 400), [], SHORT)
    assert live.target_time(1, SHORT) == pytest.approx(0.02, rel=0.02)


def test_measured_once_and_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    pair = tiny_pair(context=1024)
    draft = pair.resources["draft"]
    del pair.resources["costs"]
    monkeypatch.setattr(budget, "calibrate", partial(budget.calibrate, seconds=0.05))
    measured = cost_model(pair, draft)
    assert all(time > 0 for row in (*measured.target, *measured.draft) for time in row)
    monkeypatch.setattr(budget, "calibrate", None)
    assert cost_model(pair, draft) == measured
    del pair.resources["costs"]
    assert cost_model(pair, draft) == measured


def change(file, side, row, value):
    stored = json.loads(file.read_text())
    stored[side][row] = value
    file.write_text(json.dumps(stored))


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_text(file.read_text()[:40]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"\xff\xfe{}"),
        *(partial(Path.write_text, data=text) for text in ("[]", "7", "null", "{}", '{"target": 1, "draft": 2}')),
        *(
            partial(change, side="target", row=1, value=[0.01] * 5 + [value])
            for value in (0, -0.01, math.nan, math.inf, 1e-12, 1e9, 10**400, None, [], "soon")
        ),
        partial(change, side="target", row=1, value=[0.01] * 5),
        partial(change, side="draft", row=0, value=[0.01] * 9),
        partial(change, side="draft", row=slice(1, None), value=[]),
    ],
)
def test_damaged_costs_are_measured_anew_and_written_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    pair = tiny_pair()
    made_up = pair.resources["costs"]
    monkeypatch.setattr(budget, "calibrate", lambda pair, draft: made_up)
    for _ in range(2):
        del pair.resources["costs"]
        assert cost_model(pair, pair.resources["draft"]) == made_up
        file = next(tmp_path.glob("costs-*.json"))
        assert budget.stored_costs(file) == made_up
        damage(file)
        assert budget.stored_costs(file) is None
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_short_context_is_measured_at_its_end():
    pair = tiny_pair(context=40)
    costs = budget.calibrate(pair, pair.resources["draft"], seconds=0.01)
    assert all(time > 0 for row in (*costs.target, *costs.draft) for time in row)


def test_a_draft_without_trees_is_measured_with_one_row():
    pair = tiny_pair()
    model = pair.resources["draft"].loop.model
    model.supports_tree, model.forward = False, one_row_only(model.forward)
    assert len(set(budget.calibrate(pair, pair.resources["draft"], seconds=0.01).draft[0])) == 1


def one_row_only(forward):
    def checked(ids, *, parents=None, rows=None):
        assert parents is None or len(parents) == 1
        return forward(ids, parents=parents, rows=rows)

    return checked


def accepted(tested, right, tries, hits):
    acceptance = LiveAcceptance()
    acceptance.tested, acceptance.accepted, acceptance.tries, acceptance.hits = tested, right, tries, hits
    return acceptance


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
        return plan_draft(dear, unsure, Settings(**settings), rows=1, context=SHORT, longest=longest, number=0)

    assert (plan().budget, plan().longest) == (20, 2)
    assert (plan(budget_offset=3).budget, plan(budget_offset=3).longest) == (23, 5)
    assert (plan(budget_offset=-3).budget, plan(budget_offset=-3).longest) == (17, 1)
    assert plan(longest=1).longest == 1
    assert (plan(budget=9).budget, plan(budget=9).longest) == (9, 9)
    assert plan(budget=9, longest=4).longest == 4


def test_acceptance_follows_the_run():
    acceptance = LiveAcceptance()
    node = Node(5, -1, "draft", status="accepted")
    for outcome, checked in (("hit", [node, node]), ("rejection", [node]), ("miss", []), ("none", [])):
        acceptance.observe(Iteration(Span(0.0, 1.0, 1), 1.0, [], checked=checked, outcome=outcome))
    assert (acceptance.alpha, acceptance.beta) == (8 / 14, 6 / 12)
