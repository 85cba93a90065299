"""The cost model between what was measured, and how a run's costs follow it."""

import pytest

from duoviz.decoding.costs import LiveCosts
from duoviz.decoding.iteration import Span
from tests.decoding.made_costs import LONG, SHORT, costs


def test_interpolates_rows_and_contexts():
    model = costs(target=0.01, slope=0.001)
    assert model.target_time(3, SHORT) == pytest.approx(0.013)
    assert model.target_time(3, (SHORT + LONG) // 2) == pytest.approx(0.0195)
    assert model.target_time(3, 1) == pytest.approx(0.013)
    # More rows than were measured are not free.
    assert model.target_time(64, SHORT) == pytest.approx(0.074)


def test_follows_the_run():
    live = LiveCosts(costs(0.01, 0.002))
    for _ in range(60):
        live.observe(Span(0.0, 0.02, 1), [Span(0.0, 0.002, 1)], SHORT)
    assert live.factors == pytest.approx((2.0, 1.0), rel=0.01)
    # A forward of many tokens, a prefill, says nothing.
    live.observe(Span(0.0, 9.0, 400), [], SHORT)
    assert live.target_time(1, SHORT) == pytest.approx(0.02, rel=0.02)
    assert live.draft_time(1, SHORT) == pytest.approx(0.002)
