"""What DuoTree is expected to give, and which way of drafting follows from it."""

from dataclasses import replace

import numpy as np
import pytest

from duoviz import runner
from duoviz.decoding import overlap
from duoviz.decoding.budget import ROW_COUNTS, CostModel
from duoviz.decoding.calibration import doubt_costs
from duoviz.decoding.forecast import BLOCK, OVERHEAD, drawn, forecast, tilted
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores
from tests.tiny import tiny_pair

# The draft is sure at half of the places, and right there.
PLACES = ((0.5, (0.9, 0.02, 0.01, 0.01)), (0.5, (0.3, 0.2, 0.1, 0.05)))
NEVER, OFTEN = ((1.0, (0.0, 0.0)),), ((0.9, (0.95, 0.02)), (0.1, (0.3, 0.2)))


def costs(target, draft, *, row=0.0):
    """Seconds: of a target forward and of each further row, and of a draft step."""
    return CostModel((tuple(target + row * (rows - 1) for rows in ROW_COUNTS),) * 2, ((draft,) * 8,) * 2)


def speed(*costs_and_places, beside):
    return forecast(*costs_and_places, beside=beside, children=4).speed


def test_a_draft_that_is_never_right_leaves_the_target_alone():
    for beside in (True, False):
        expected = speed(costs(0.02, 0.05), NEVER, beside=beside)
        assert expected == pytest.approx(1 / (0.02 + OVERHEAD), rel=0.001)


def test_a_better_draft_and_cheaper_costs_give_more():
    for beside in (True, False):
        usual, better = (speed(costs(0.02, 0.001, row=0.001), places, beside=beside) for places in (PLACES, OFTEN))
        assert 1.2 / 0.021 < usual < better
        assert speed(costs(0.02, 0.001), PLACES, beside=beside) > usual
        assert speed(costs(0.02, 0.004, row=0.001), PLACES, beside=beside) < usual


def test_beside_pays_where_the_draft_is_dear_and_in_turn_where_it_takes_a_core():
    """A draft that costs half of the target, and nothing to it; and a cheap one for which the target is slower."""
    assert speed(costs(0.02, 0.01), PLACES, beside=True) > 1.1 * speed(costs(0.02, 0.01), PLACES, beside=False)
    shared = speed(costs(0.03, 0.001, row=0.001), PLACES, beside=True)
    assert speed(costs(0.02, 0.001, row=0.001), PLACES, beside=False) > 1.1 * shared


def test_the_target_waits_for_a_quick_draft_and_not_for_a_slow_one():
    slow, quick = (forecast(costs(0.02, draft), PLACES, beside=True, children=4).patience for draft in (0.012, 0.001))
    assert slow < quick == 1


@pytest.mark.parametrize("beside", [True, False])
def test_a_chain_and_fewer_rows_promise_less_than_a_tree(beside):
    unsure = ((1.0, (0.35, 0.3, 0.2, 0.1)),)
    options = {"beside": beside, "children": 4}
    tree = forecast(costs(0.02, 0.001), unsure, **options).speed
    chain = forecast(costs(0.02, 0.001), unsure, **options, trees=False).speed
    two, single = (forecast(costs(0.02, 0.001), unsure, **options, most=most).speed for most in (2, 1))
    assert tree > 1.5 * chain > 1.5 / 0.025
    assert tree > two > 1.1 * single


def pair_with(beside, in_turn):
    pair = tiny_pair()
    pair.cores = Cores(target=pair.cores.target, draft=(999,))
    runtime(pair).costs |= {"costs": beside, "costs in turn, 1 threads": in_turn, "costs in turn, 2 threads": in_turn}
    return pair


def test_auto_takes_what_costs_say_and_a_setting_is_obeyed():
    dear, cheap = costs(0.02, 0.01), costs(0.012, 0.001)
    for pair, expected in ((pair_with(dear, dear), True), (pair_with(dear, cheap), False)):
        settings = Settings(cores="target")
        assert overlap.works_beside(pair, settings) is expected
        assert not overlap.works_beside(pair, replace(settings, overlap="in_turn"))
        assert overlap.works_beside(pair, replace(settings, overlap="beside"))
    # On one core nothing can work beside anything.
    assert not overlap.works_beside(tiny_pair(), Settings())


def test_what_the_last_runs_have_shown_counts_more_than_when_costs_were_measured():
    pair, settings = pair_with(costs(0.02, 0.01), costs(0.02, 0.01)), Settings(cores="target")

    def after_runs(*factors, beside):
        with overlap.the_way(pair, settings, beside=beside):
            for factor in factors:
                doubt_costs(pair, (np.float64(factor), np.float64(1.0)), in_turn=not beside)
        return overlap.works_beside(pair, settings)

    # A plain truth value, which a trace can hold.
    assert after_runs(1.9, beside=True) is False
    assert after_runs(1.9, beside=False)
    # One run that was disturbed among several says nothing.
    assert not after_runs(1.0, 1.0, 1.0, 1.9, beside=False)
    assert not after_runs(1.0, beside=True)
    assert after_runs(1.0, 1.0, 1.9, beside=True)


@pytest.mark.parametrize("way", ["beside", "in_turn"])
def test_a_run_says_which_way_it_went(way):
    pair = pair_with(costs(0.02, 0.01), costs(0.02, 0.01))
    trace = runner.collect(
        runner.stream(pair, "duotree", "hello", Settings(max_new_tokens=8, overlap=way, cores="target"))
    )
    assert trace["header"]["can_overlap"] == (way == "beside")
    assert trace["header"]["draft"]["device"] == (
        pair.draft_device_label() if way == "beside" else pair.target_device_label(pair.cores.target)
    )


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_places_are_tilted_to_a_share_of_best_tokens_that_are_right(share):
    found = tilted((*PLACES, (0.5, (0.05, 0.6, 0.0, 0.0))), share)
    assert sum(met * chances[0] for met, chances in found) == pytest.approx(share, abs=1e-3)
    assert sum(met for met, _ in found) == pytest.approx(1)
    # No next token is likelier than the best one.
    assert found[-1][1] == (0.05, 0.05, 0.0, 0.0) and found[0][1] == PLACES[0][1]


def test_a_share_out_of_reach_is_come_near_to():
    assert tilted(PLACES, 0.99)[0][0] == pytest.approx(1) and tilted(PLACES, 0.01)[1][0] == pytest.approx(1)


def test_a_text_is_no_luckier_than_most():
    kinds = drawn(np.random.default_rng(3), np.cumsum([0.5, 0.25, 0.25]), 10 * BLOCK)
    for block in kinds.reshape(-1, BLOCK):
        assert np.abs(np.bincount(block) - [BLOCK / 2, BLOCK / 4, BLOCK / 4]).max() <= 1
    # So a short play gives what a long one does.
    short, long = (
        forecast(costs(0.02, 0.002, row=0.001), PLACES, beside=False, children=4, iterations=each).speed
        for each in (30, 400)
    )
    assert short == pytest.approx(long, rel=0.06)
