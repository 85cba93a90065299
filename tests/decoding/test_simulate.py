"""What DuoTree is expected to give, by a play of its policy."""

from functools import partial

import numpy as np
import pytest

from duoviz.decoding.costs import ROW_COUNTS, CostModel
from duoviz.decoding.duotree.simulate import BLOCK, OVERHEAD, drawn, exponential_tilt, forecast

# The draft is sure at half of the places, and right there.
PLACES = ((0.5, (0.9, 0.02, 0.01, 0.01)), (0.5, (0.3, 0.2, 0.1, 0.05)))
NEVER, OFTEN = ((1.0, (0.0, 0.0)),), ((0.9, (0.95, 0.02)), (0.1, (0.3, 0.2)))


def costs(target, draft, *, row=0.0):
    """Seconds: of a target forward and of each further row, and of a draft step."""
    return CostModel((tuple(target + row * (rows - 1) for rows in ROW_COUNTS),) * 2, ((draft,) * 8,) * 2)


speed = partial(forecast, children=4)


@pytest.mark.parametrize("beside", [True, False])
def test_a_draft_that_is_never_right_leaves_the_target_alone_and_a_better_or_cheaper_one_gives_more(beside):
    never = speed(costs(0.02, 0.05), NEVER, beside=beside)
    assert never == pytest.approx(1 / (0.02 + OVERHEAD), rel=0.001)
    usual, better = (speed(costs(0.02, 0.001, row=0.001), places, beside=beside) for places in (PLACES, OFTEN))
    assert 1.2 / 0.021 < usual < better
    assert speed(costs(0.02, 0.004, row=0.001), PLACES, beside=beside) < usual
    assert speed(costs(0.02, 0.001), PLACES, beside=beside) > usual


@pytest.mark.parametrize("beside", [True, False])
def test_a_chain_and_fewer_rows_promise_less_than_a_tree(beside):
    tree, chain, two, single = (
        speed(costs(0.02, 0.001), ((1.0, (0.35, 0.3, 0.2, 0.1)),), beside=beside, **limits)
        for limits in ({}, {"trees": False}, {"most": 2}, {"most": 1})
    )
    assert tree > 1.5 * chain > 1.5 / 0.025
    assert tree > two > 1.1 * single


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.7])
def test_places_are_tilted_to_the_rate_at_which_best_tokens_are_right(rate):
    places = exponential_tilt((*PLACES, (0.5, (0.05, 0.6, 0.0, 0.0))), rate)
    assert sum(met * chances[0] for met, chances in places) == pytest.approx(rate, abs=1e-3)
    assert sum(met for met, _ in places) == pytest.approx(1)
    # No next token is likelier than the best one.
    assert places[-1][1] == (0.05, 0.05, 0.0, 0.0) and places[0][1] == PLACES[0][1]


def test_a_rate_out_of_reach_is_come_near_to():
    most, least = (exponential_tilt(PLACES, rate) for rate in (0.99, 0.01))
    assert most[0][0] == pytest.approx(1) and least[1][0] == pytest.approx(1)


def test_a_text_is_no_luckier_than_most():
    kinds = drawn(np.random.default_rng(3), np.cumsum([0.5, 0.25, 0.25]), 10 * BLOCK)
    for block in kinds.reshape(-1, BLOCK):
        assert np.abs(np.bincount(block) - [BLOCK / 2, BLOCK / 4, BLOCK / 4]).max() <= 1
    # So a short play gives what a long one does.
    short, long = (speed(costs(0.02, 0.002, row=0.001), PLACES, beside=False, iterations=count) for count in (30, 400))
    assert short == pytest.approx(long, rel=0.06)
