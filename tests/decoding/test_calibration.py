"""Measuring what a forward of both models costs."""

import pytest

from duoviz.decoding.calibration import calibrate, measure_target
from duoviz.decoding.costs import ROW_COUNTS, Costs
from duoviz.decoding.forward import Stopped
from tests.tiny import tiny_engine


def calibrated(engine, *, beside=True, **options):
    costs = Costs()
    calibrate(engine.pair.target, engine.draft_beside, costs, beside=beside, **options)
    return costs.model


@pytest.mark.parametrize("beside", [True, False])
def test_a_calibration_ends_between_two_forwards(beside):
    asked = iter([False] * 5)
    with pytest.raises(Stopped):
        calibrated(tiny_engine(), beside=beside, stopped=lambda: next(asked, True))


def test_the_very_first_forward_does_not_count():
    """It is of one row, as the last two."""
    assert [forward.rows for forward in measure_target(tiny_engine().pair.target)] == [*ROW_COUNTS[::-1], 1]


@pytest.mark.parametrize("beside", [True, False])
def test_a_short_context_is_measured_at_its_end(beside):
    costs = calibrated(tiny_engine(context=40), beside=beside)
    assert all(time > 0 for row in (*costs.target, *costs.draft) for time in row)


def test_a_draft_without_trees_is_measured_with_one_row():
    engine = tiny_engine()
    model = engine.draft_beside.model
    forward = model.forward

    def one_row_only(ids, *, parents=None, rows=None):
        assert parents is None or len(parents) == 1
        return forward(ids, parents=parents, rows=rows)

    model.supports_tree, model.forward = False, one_row_only
    times = calibrated(engine).draft[0]
    assert max(times) == pytest.approx(min(times), rel=0.01)
