"""The cost model's predictions, against runs that keep to its own rules and against chance played out."""

from dataclasses import replace

import numpy as np
import pytest

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.costs import CostModel
from duoviz.decoding.duotree.simulate import exponential_tilt
from duoviz.decoding.theory import parallel_tokens, run_of
from duoviz.lab import findings, prediction, tables
from duoviz.lab.machine import ON_TARGET, cost_models
from duoviz.lab.paying import tree_ways
from duoviz.lab.plan import DUO, SPS, TARGET_ONLY, VANILLA
from duoviz.lab.prediction import (
    ALPHAS,
    RATIOS,
    duodecoding_phi,
    duotree_map,
    duotree_phi,
    forward_seconds,
    growth,
    places_of,
    predict,
    predictions_of,
    seconds_between,
    speculative_phi,
    with_free_rows,
)
from tests.lab.made_results import ENVIRONMENT, results, row

MODELS = cost_models(ENVIRONMENT)


def predicted(*rows, models=MODELS):
    """The prediction of rows where forwards cost at first what these models say."""
    costs = {name: {"target": model.target, "draft": model.draft} for name, model in models.items()}
    return predict(rows, forward_seconds(rows, {"costs": costs}))


HALF = {"accepted": 3, "tested": 6}
# Half of the pending and half of the first tokens are accepted, and sequences taken have two tokens:
# for each iteration without pending tokens there are 2/3 with one, and τ = (1 + 2/3 · 3/2) / (1 + 2/3).
DUO_HALF = {"pending_accepted": 2, "pending_tested": 4, "hits": 2, "tries": 4, "taken": 4, "sequences_taken": 2}


def runs():
    """Runs that take just the time and commit just the tokens that the model expects; the first iterations are odd."""
    return [
        row(VANILLA, committed=[1, 1, 1], each=[9, 0.01, 0.01], rows=[7, 1, 1]),
        # Three rows take 12 ms, and two draft steps before them 4 ms.
        row(SPS, committed=[1, 1.75, 1.75], each=[9, 0.016, 0.016], rows=[9, 3, 3], draft_steps=[5, 2, 2],
            target=[8, 0.012, 0.012], draft=[1, 0.004, 0.004], drafted=[2, 2, 2], k=[None] * 3, counts=HALF),
        # Two rows take 11 ms, five draft steps meanwhile 10 ms; seven take longer than the target.
        row(DUO, committed=[1, 1.2, 1.2], each=[9, 0.011, 0.014], rows=[7, 2, 2], draft_steps=[1, 5, 7],
            target=[8, 0.011, 0.011], draft=[1, 0.01, 0.014], drafted=[1, 5, 7], k=[None, 1, 3], counts=DUO_HALF),
        # No formula for what a lookup finds: only its 21 rows are predicted, at 30 ms.
        row("prompt_lookup", committed=[1, 3, 5], each=[9, 0.03, 0.03], rows=[9, 21, 21]),
    ]  # fmt: skip


def test_a_run_that_keeps_to_the_model_is_predicted_without_error():
    for each in runs():
        found = predicted(each)
        assert found.error == pytest.approx(0, abs=1e-9) and found.seconds < 0.05
        assert (found.tau_predicted is None) == (each["model_id"] == "prompt_lookup")
    slower = row(VANILLA, committed=[1, 1], each=[9, 0.02], rows=[7, 1])
    assert predicted(slower).error == pytest.approx(1.0)
    # Forwards are predicted, and the time between them is as measured.
    slower = row(VANILLA, committed=[1, 1], each=[9, 0.025], target=[8, 0.02], rows=[7, 1])
    assert predicted(slower).seconds_predicted == pytest.approx(0.01 + 0.005)
    assert seconds_between([slower]) == pytest.approx(0.005)
    assert predicted(row(VANILLA, committed=[1], each=[9], rows=[7])) is None


def test_each_side_has_the_costs_of_how_and_on_how_much_it_worked():
    alone = row(TARGET_ONLY, committed=[1, 1], each=[9, 0.02], rows=[7, 1], method="vanilla")
    alone["settings"]["cores"] = "target"
    own = MODELS | {ON_TARGET: CostModel(((0.02,) * 6,) * 2, ((0.002,) * 8,) * 2)}
    assert predicted(alone, models=own).error == pytest.approx(0, abs=1e-9)
    assert predicted(alone).error == pytest.approx(1.0)
    # The same iteration of DuoTree, its draft in turn or beside: the sum of both sides or the longer one.
    one = {"committed": [1, 1, 2], "rows": [7, 3, 3], "draft_steps": [0, 1, 2]}
    rows = [row("duotree", each=[9, 9, 0.012], **one, draft_rows=[0, 7, 2]) for _ in range(2)]
    rows[1]["measured"][0]["metrics"]["overlap"] = 0.4
    assert [predicted(each).seconds_predicted for each in rows] == pytest.approx([0.016, 0.012])
    # Two steps of four tokens together take as long as two of two.
    costs = replace(MODELS["in turn"], draft=((0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009),) * 2)
    wide, models = row("duotree", each=[9, 9, 0.018], **one, draft_rows=[0, 7, 4]), MODELS | {"in turn": costs}
    assert predicted(wide, models=models).seconds_predicted == pytest.approx(0.012 + 2 * 0.003)


def test_the_table_has_each_methods_error_and_the_sentence_the_worst():
    slow = row(TARGET_ONLY, committed=[1, 1], each=[9, 0.02], rows=[7, 1], method="vanilla")
    found = predictions_of(results(*runs(), slow))
    table = tables.predictions(found)
    errors = {label: cells[table.columns.index("error, %")].value for label, cells in table.lines}
    assert errors == pytest.approx(
        {"Vanilla": 0, "Vanilla on DuoDecoding's target cores": 100, "SpS": 0, "PLD": 0, "DuoDecoding": 0}
    )
    assert findings.about_predictions(found) == [
        "With tokens per pass by formula where there is one, the cost model's mean error over 5 methods is 20 %; the "
        "largest is +100 %, for Vanilla on DuoDecoding's target cores. It is too high for 1 of them."
    ]


def test_phi_is_that_of_the_best_length():
    grown, free = growth(MODELS["together"]), growth(with_free_rows(MODELS["together"]))
    best = max(run_of(0.8, gamma) / (gamma / 8 + grown[gamma]) for gamma in range(1, 32))
    assert speculative_phi(0.8, 8.0, grown) == pytest.approx(best)
    slowed = max(run_of(0.8, gamma) / (gamma / 8 + grown[gamma] + 0.5) for gamma in range(1, 32))
    assert speculative_phi(0.8, 8.0, grown, between=0.5) == pytest.approx(slowed)
    assert duodecoding_phi(0.8, 8.0, free, between=0.5) == pytest.approx(duodecoding_phi(0.8, 8.0, free) / 1.5)
    # Where rows cost nothing, all whole steps that fit into the target's forward are kept.
    for ratio in (1, 3, 3.9, 8):
        assert duodecoding_phi(0.8, ratio, free) == pytest.approx(parallel_tokens(0.8, 0.8, int(ratio)))
    assert duodecoding_phi(0.8, 8.0, grown) < duodecoding_phi(0.8, 8.0, free)
    # With all cores it would be twice as fast: so it nearly is beside a draft that takes no time.
    alone, borrowing = (duodecoding_phi(0.8, 1e6, free, both) for both in (free, 0.5 * free))
    assert borrowing == pytest.approx(2 * alone, rel=1e-3)
    # Of a pass, an eighth goes by with one guess: what is left takes half as long.
    assert duodecoding_phi(0.01, 8.0, free, 0.5 * free) == pytest.approx(16 / 9, rel=0.02)


def test_for_the_map_fewer_rows_take_no_longer_than_more():
    costs = replace(MODELS["in turn"], target=((0.03, 0.02, 0.025, 0.024, 0.04, 0.08),) * 2)
    assert growth(costs)[[0, 1, 3, 7]] == pytest.approx([20 / 30, 20 / 30, 24 / 30, 24 / 30])


PLACES = plain().places()


@pytest.fixture
def at_the_corners(monkeypatch):
    """DuoTree played at the corners of the map only."""
    monkeypatch.setattr(prediction, "PLAYED_RATIOS", RATIOS[::48])
    monkeypatch.setattr(prediction, "PLAYED_ALPHAS", ALPHAS[::48])
    duotree_map.cache_clear()
    yield
    duotree_map.cache_clear()


def test_duotrees_map_is_its_forecast_where_it_is_played_and_lies_between_elsewhere(at_the_corners):
    together, in_turn = MODELS["together"], replace(MODELS["in turn"], draft=((0.004,) * 8,) * 2)
    found = duotree_map(together, in_turn, PLACES)
    # At a ratio of 128 the draft in turn takes 10 ms / 128, and beside the target half of it, as here.
    steps = ((together, 0.005 / 128), (in_turn, 0.01 / 128))
    quick = [replace(costs, draft=((each,) * 8,) * 2) for costs, each in steps]
    corner = duotree_phi(*quick, exponential_tilt(PLACES, 0.98))
    assert (found.beside[-1, -1], found.in_turn[-1, -1]) == pytest.approx(corner)
    assert found.phi[-1, -1] == max(corner) and found.phi.shape == (len(ALPHAS), len(RATIOS))
    for line in (found.in_turn[:, 48], found.in_turn[48]):
        assert (np.diff(np.log(line), 2) == pytest.approx(0, abs=1e-9)) and line[-1] > line[0]
    # Where rows cost nothing and nobody takes a core, a draft beside the target never makes it slower than one in turn.
    free = tree_ways(ENVIRONMENT)["free"]
    assert free.phi[-1, -1] > found.phi[-1, -1] and (free.beside >= 0.98 * free.in_turn).all()


def test_the_draft_never_works_beside_the_target_on_its_only_core(at_the_corners):
    shared = ENVIRONMENT | {"cores": {"target": [0], "draft": [0]}}
    assert (tree_ways(shared)["here"].beside == tree_ways(shared)["here"].in_turn).all()
    assert (tree_ways(ENVIRONMENT)["here"].beside != tree_ways(ENVIRONMENT)["here"].in_turn).any()


def test_places_are_those_kept_with_the_results_or_what_is_assumed_of_any_draft():
    kept = [[0.5, 0.9, 0.05, 0.0, 0.0], [0.25, 0.2, 0.1, 0.0, 0.0], [0.0, 0.1, 0.1, 0.1, 0.1]]
    shares, kinds = zip(*places_of({"places": kept}), strict=True)
    assert shares == pytest.approx((2 / 3, 1 / 3)) and kinds[1] == (0.2, 0.1, 0.0, 0.0)
    assert places_of({}) == PLACES == places_of({"places": [[0.0, 1.0, 0.0, 0.0, 0.0]]})
