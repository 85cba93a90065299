"""Measuring what both models cost: once, remembered, better later, anew where a run contradicts it."""

import json
import math
from functools import partial
from pathlib import Path

import pytest

from duoviz import runner
from duoviz.decoding import calibration
from duoviz.decoding.budget import CostModel
from duoviz.decoding.calibration import CALIBRATIONS, calibrate, cost_model, doubt_costs, refine_costs, stored_costs
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from tests.tiny import tiny_pair


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def unmeasured():
    """A tiny pair whose costs nobody has made up."""
    pair = tiny_pair()
    runtime(pair).costs.clear()
    return pair


@pytest.fixture
def counted(monkeypatch):
    """What calibrations find, a thousandth of the made-up costs times 1, 2, 3, …; the list grows with each."""
    made_up, found = runtime(tiny_pair()).costs["costs"], []

    def times(number):
        sides = (made_up.target, made_up.draft)
        return CostModel(*(tuple(tuple(number * t / 1000 for t in row) for row in side) for side in sides))

    def measure(pair, draft, *, stopped=bool):
        if stopped():
            raise Stopped
        found.append(times(len(found) + 1))
        return found[-1]

    monkeypatch.setattr(calibration, "calibrate", measure)
    monkeypatch.setattr(calibration, "calibrate_in_turn", measure)
    return found


def test_measured_once_and_remembered(unmeasured, monkeypatch):
    draft = runtime(unmeasured).draft
    measured = cost_model(unmeasured, draft)
    assert all(time > 0 for row in (*measured.target, *measured.draft) for time in row)
    monkeypatch.setattr(calibration, "calibrate", pytest.fail)
    assert cost_model(unmeasured, draft) == measured
    del runtime(unmeasured).costs["costs"]
    assert cost_model(unmeasured, draft) == measured


def test_what_is_measured_is_stored_before_others_may_measure(unmeasured, counted, monkeypatch):
    def watched(stored, measure, *, stopped):
        found = measure()
        assert stored() == found
        return found

    monkeypatch.setattr(calibration, "measured_once", watched)
    cost_model(unmeasured, runtime(unmeasured).draft)
    assert len(counted) == 1


def test_in_turn_is_kept_apart(unmeasured):
    draft = runtime(unmeasured).draft
    beside, in_turn = cost_model(unmeasured, draft), cost_model(unmeasured, draft, in_turn=True)
    assert beside != in_turn and cost_model(unmeasured, draft) == beside


def test_costs_are_refined_to_the_median_and_then_left_alone(unmeasured, counted):
    draft = runtime(unmeasured).draft
    rounds = 0
    while refine_costs(unmeasured, draft, in_turn=False):
        rounds += 1
    assert rounds == CALIBRATIONS - 1 and len(counted) == CALIBRATIONS
    assert cost_model(unmeasured, draft) == counted[CALIBRATIONS // 2]
    del runtime(unmeasured).costs["costs"]
    assert not refine_costs(unmeasured, draft, in_turn=False) and len(counted) == CALIBRATIONS


def test_refining_where_nothing_can_be_written_ends_too(unmeasured, counted, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", "/dev/null/nowhere")
    runner.settle(unmeasured, ["vanilla", "duodecoding", "speculative"])
    assert len(counted) == 2 * CALIBRATIONS


def test_refining_stops_for_a_run_and_costs_given_are_not_touched(unmeasured, counted):
    cost_model(unmeasured, runtime(unmeasured).draft)
    with pytest.raises(Stopped):
        refine_costs(unmeasured, runtime(unmeasured).draft, in_turn=False, stopped=lambda: True)
    with pytest.raises(Stopped):
        refine_costs(unmeasured, runtime(unmeasured).draft, in_turn=True, stopped=lambda: True)
    pair = tiny_pair()
    assert not refine_costs(pair, runtime(pair).draft, in_turn=False) and len(counted) == 1


def test_a_calibration_ends_between_two_forwards(unmeasured):
    asked = iter([False] * 5)
    with pytest.raises(Stopped):
        calibrate(unmeasured, runtime(unmeasured).draft, stopped=lambda: next(asked, True))


def test_a_run_that_contradicts_the_costs_has_them_measured_anew(unmeasured, counted):
    draft = runtime(unmeasured).draft
    first = cost_model(unmeasured, draft)
    doubt_costs(unmeasured, (1.9, 0.6), in_turn=False)
    assert stored_costs(next(calibration.cache_folder().glob("costs-*.json"))) == [first]
    doubt_costs(unmeasured, (2.1, 1.0), in_turn=False)
    assert cost_model(unmeasured, draft) == first
    assert stored_costs(next(calibration.cache_folder().glob("costs-*.json"))) is None
    assert refine_costs(unmeasured, draft, in_turn=False)
    assert cost_model(unmeasured, draft) == counted[-1] != first


def test_runs_tell_what_they_found(unmeasured, counted, monkeypatch):
    told = []
    monkeypatch.setattr(runner, "doubt_costs", lambda pair, factors, in_turn: told.append((factors, in_turn)))
    for method in ("duodecoding", "speculative", "vanilla"):
        trace = runner.collect(runner.stream(unmeasured, method, "hello", Settings(max_new_tokens=40)))
        if method != "vanilla":
            factors, in_turn = told[-1]
            assert factors == pytest.approx(trace["iterations"][-1]["factors"], abs=1e-4)
            assert in_turn == (method == "speculative")
    assert len(told) == 2


def change(file, side, row, value):
    stored = json.loads(file.read_text())
    stored["calibrations"][0][side][row] = value
    file.write_text(json.dumps(stored))


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_text(file.read_text()[:40]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"\xff\xfe{}"),
        *(
            partial(Path.write_text, data=text)
            for text in ("[]", "7", "null", "{}", '{"calibrations": []}', '{"calibrations": [7]}', "[" * 100_000)
        ),
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
    made_up = runtime(pair).costs["costs"]
    monkeypatch.setattr(calibration, "calibrate", lambda pair, draft, *, stopped=bool: made_up)
    for _ in range(2):
        del runtime(pair).costs["costs"]
        assert cost_model(pair, runtime(pair).draft) == made_up
        file = next(tmp_path.glob("costs-*.json"))
        assert stored_costs(file) == [made_up]
        damage(file)
        assert stored_costs(file) is None
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_short_context_is_measured_at_its_end():
    pair = tiny_pair(context=40)
    costs = calibrate(pair, runtime(pair).draft)
    assert all(time > 0 for row in (*costs.target, *costs.draft) for time in row)


def test_a_draft_without_trees_is_measured_with_one_row():
    pair = tiny_pair()
    model = runtime(pair).draft.loop.model
    model.supports_tree, model.forward = False, one_row_only(model.forward)
    assert len(set(calibrate(pair, runtime(pair).draft).draft[0])) == 1


def one_row_only(forward):
    def checked(ids, *, parents=None, rows=None):
        assert parents is None or len(parents) == 1
        return forward(ids, parents=parents, rows=rows)

    return checked
