"""The cost model between what was measured, and how its estimate follows the forwards."""

import numpy as np
import pytest

from duoviz.decoding.costs import BUSY, LATELY, ROW_COUNTS, WIDTHS, Costs, Estimate, Forward
from tests.decoding.made_costs import LONG, SHORT, costs
from tests.tiny import tiny_engine, traced

SECONDS = np.array([0.016, 0.0165, 0.018, 0.025, 0.045, 0.088])


def taken(rows, slower=1.0):
    return slower * float(np.interp(rows, ROW_COUNTS, SECONDS))


def follow(estimate, forwards, *, slower=1.0, seed=0):
    """Forwards of one to eight rows, with the noise of a quiet machine and one in thirty held up."""
    noise = np.random.default_rng(seed)
    for rows in noise.integers(1, 9, forwards):
        late = 2.0 if noise.random() < 1 / 30 else 1.0
        estimate.observe(Forward(int(rows), SHORT, taken(rows, slower) * late * float(np.exp(noise.normal(0, 0.04)))))


def begun(slower=1.0, *, wrong=None):
    """wrong: the number of rows whose forward took twice as long."""
    estimate = Estimate(ROW_COUNTS)
    for rows in ROW_COUNTS:
        estimate.observe(Forward(rows, SHORT, taken(rows, slower) * (2 if rows == wrong else 1)))
    return estimate


def error(estimate, counts=slice(None)):
    """The largest of these entries, in logarithms."""
    return float(np.abs(np.log(np.array(estimate.table[0]) / SECONDS))[counts].max())


def test_interpolates_rows_and_contexts():
    model = costs(target=0.01, slope=0.001)
    assert model.target_time(3, SHORT) == pytest.approx(0.013)
    assert model.target_time(3, (SHORT + LONG) // 2) == pytest.approx(0.0195)
    assert model.target_time(3, 1) == pytest.approx(0.013)
    # More rows than were measured are not free.
    assert model.target_time(64, SHORT) == pytest.approx(0.074)


def test_a_few_forwards_begin_the_estimate_and_outliers_hardly_move_it():
    estimate = begun()
    assert error(estimate) < 0.1
    follow(estimate, 200)
    assert error(estimate, slice(4)) < 0.06
    before = estimate.table[0][0]
    estimate.observe(Forward(1, SHORT, 50 * taken(1)))
    assert estimate.table[0][0] < 1.15 * before


def test_a_machine_that_changes_its_speed_moves_all_entries_of_a_side():
    estimate = begun(slower=2.5)
    follow(estimate, 60, slower=2.5)
    follow(estimate, 60)
    assert error(estimate) < 0.15
    assert estimate.slowdown < 1.3
    follow(estimate, 30, slower=2.5)
    assert estimate.slowdown > 2


def test_a_moment_of_other_work_neither_chooses_cores_nor_makes_a_run_count_as_disturbed():
    estimate = begun()
    follow(estimate, 60)
    for forwards, is_steady in ((12, True), (20, False)):
        follow(estimate, forwards, slower=4)
        later = Estimate(ROW_COUNTS)
        later.recall(estimate.kept())
        for each in (estimate, later):
            assert (each.one_row < 1.2 * taken(1)) == (each.slowdown < BUSY) == is_steady


@pytest.mark.parametrize("slower", [1.0, 2.5])
def test_what_was_measured_beside_other_work_is_outdated_once_that_has_ended(slower):
    costs = Costs()
    costs.target, costs.draft.count = begun(slower), 1
    follow(costs.target, 20)
    assert costs.outdated == (slower > 1)


def test_after_a_while_one_forward_says_how_fast_the_machine_is_now():
    """On cores that are only tried now and then."""
    for pause, reached in ((0.0, False), (LATELY + 1, True)):
        estimate = begun()
        follow(estimate, 60, slower=2.5)
        estimate.seen -= pause
        estimate.observe(Forward(1, SHORT, taken(1)))
        assert (error(estimate, 0) < 0.2) == reached


def test_an_entry_that_was_measured_wrong_is_put_right_by_its_own_forwards():
    estimate = begun(wrong=4)
    follow(estimate, 200)
    assert error(estimate, slice(4)) < 0.08


@pytest.mark.parametrize("rows", [(8,), (4, 8), (1,)])
@pytest.mark.parametrize("scatter", [0.75, 1.4])
def test_forwards_that_scatter_to_one_side_carry_nothing_off(rows, scatter):
    """The others have the same ratio to them as before."""
    estimate, noise = begun(), np.random.default_rng(0)
    before = np.array(estimate.table[0])
    for number in noise.choice(rows, 2000):
        estimate.observe(Forward(int(number), SHORT, taken(number) * (scatter if noise.random() < 0.4 else 1.0)))
    changes = estimate.table[0] / before
    assert changes.max() / changes.min() < 1.3
    assert min(scatter, 1) / 1.1 < changes.min() and changes.max() < 1.1 * max(scatter, 1)
    assert estimate.slowdown < BUSY


@pytest.mark.parametrize("seed", range(10))
def test_twenty_forwards_after_a_long_text_say_what_all_cost_there(seed):
    learned, noise = Costs(), np.random.default_rng(seed)

    def seconds(rows, context):
        return taken(rows) + (1 + rows / 6) * 1e-6 * context

    for context, forwards in ((100, 60), (3900, 20)):
        for rows in noise.choice([1, 2, 4, 8], forwards):
            late = float(np.exp(noise.normal(0, 0.03)))
            learned.observe([Forward(int(rows), context, seconds(rows, context) * late)], [])
    for rows in (1, 2, 4, 8):
        assert learned.model.target_time(rows, 3900) == pytest.approx(seconds(rows, 3900), rel=0.08)


@pytest.mark.parametrize("method", ["vanilla", "speculative", "duodecoding", "duotree"])
def test_every_forward_of_a_run_is_learnt_from(method, tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    # A busy machine's costs may be measured anew after a run.
    monkeypatch.setattr(Costs, "outdated", False)
    engine = tiny_engine()
    engine.kept_costs.clear()
    trace = traced(engine, method, max_new_tokens=40)
    measured = len(ROW_COUNTS) if method != "vanilla" else 0
    forwards = sum(learned.target.count for learned in engine.kept_costs.values()) - measured
    assert len(trace["iterations"]) - 2 <= forwards <= len(trace["iterations"]) - 1
    steps = sum(learned.draft.count for learned in engine.kept_costs.values())
    drafted = sum(step["tokens"] <= 2 * WIDTHS[-1] for iteration in trace["iterations"] for step in iteration["draft"])
    assert steps <= drafted + (len(WIDTHS) if measured else 0) and bool(steps) == (method != "vanilla")


def test_a_callers_pause_hardly_changes_the_overhead():
    learned = Costs()
    usual = learned.overhead
    learned.observe_overhead(60.0)
    assert usual < learned.overhead < 1.2 * usual


def test_forwards_of_one_kind_in_an_iteration_count_as_one():
    steps, once = [Forward(1, 64, seconds) for seconds in (0.001, 0.002, 0.006)], Costs()
    several = Costs()
    several.observe([], [*steps, Forward(2, 64, 0.004)])
    once.observe([], [Forward(1, 64, 0.003), Forward(2, 64, 0.004)])
    assert several.draft.count == 2
    np.testing.assert_allclose(several.model.draft, once.model.draft)
