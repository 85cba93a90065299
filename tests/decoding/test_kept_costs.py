"""A way's costs: measured once, remembered, better later, anew where a run contradicts them."""

import json
import math
from functools import partial
from pathlib import Path

import pytest

from duoviz import runner
from duoviz.decoding import kept_costs
from duoviz.decoding.forward import Stopped
from duoviz.decoding.kept_costs import CALIBRATIONS, KeptCosts, stored
from duoviz.decoding.settings import Settings
from duoviz.decoding.way import Way
from tests.decoding.made_costs import costs
from tests.tiny import tiny_engine


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def unmeasured():
    """A tiny engine whose costs nobody has made up."""
    engine = tiny_engine()
    engine.kept_costs.clear()
    return engine


@pytest.fixture
def made(monkeypatch):
    """The calibrations, 1, 2, 3, … milliseconds everywhere; the list grows with each."""
    calibrations = []

    def calibrate(target, draft, *, beside, stopped):
        if stopped():
            raise Stopped
        seconds = (1 + len(calibrations)) / 1000
        calibrations.append(costs(seconds, seconds))
        return calibrations[-1]

    monkeypatch.setattr(kept_costs, "calibrate", calibrate)
    return calibrations


def costs_of(engine, *, beside=True):
    return engine.costs(Way(beside, engine.pair.cores.target))


def again(engine):
    """The costs as another process has them: only the cache file is there."""
    engine.kept_costs.clear()
    return costs_of(engine)


def test_measured_once_and_remembered(unmeasured, monkeypatch):
    kept = costs_of(unmeasured)
    assert kept.known is None and unmeasured.known_costs(kept.way) is None
    measured = kept.model()
    assert all(time > 0 for row in (*measured.target, *measured.draft) for time in row)
    monkeypatch.setattr(kept_costs, "calibrate", pytest.fail)
    assert kept.model() == unmeasured.known_costs(kept.way) == again(unmeasured).model() == measured


def test_what_is_measured_is_stored_before_others_may_measure(unmeasured, made, monkeypatch):
    def watched(stored, measure, *, stopped):
        measured = measure()
        assert stored() == measured
        return measured

    monkeypatch.setattr(kept_costs, "measured_once", watched)
    assert costs_of(unmeasured).model() == made[0] and len(made) == 1


def test_each_way_is_kept_apart(unmeasured, made):
    beside, in_turn = (costs_of(unmeasured, beside=beside) for beside in (True, False))
    assert beside.model() == made[0] and in_turn.model() == made[1] and beside.file != in_turn.file
    assert costs_of(unmeasured) is beside and beside.model() == made[0]


def test_costs_are_refined_to_the_median_and_then_left_alone(unmeasured, made):
    kept, rounds = costs_of(unmeasured), 0
    while kept.refine():
        rounds += 1
    assert rounds == CALIBRATIONS - 1 and len(made) == CALIBRATIONS
    assert kept.model() == made[CALIBRATIONS // 2]
    assert not again(unmeasured).refine() and len(made) == CALIBRATIONS


def test_refining_where_nothing_can_be_written_ends_too(unmeasured, made, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", "/dev/null/nowhere")
    runner.settle(unmeasured, ["vanilla", "duodecoding", "speculative"])
    assert len(made) == 2 * CALIBRATIONS


def test_refining_stops_for_a_run_and_costs_given_are_not_touched(unmeasured, made):
    costs_of(unmeasured).model()
    for beside in (True, False):
        with pytest.raises(Stopped):
            costs_of(unmeasured, beside=beside).refine(stopped=lambda: True)
    assert not costs_of(tiny_engine()).refine() and len(made) == 1


def test_a_run_that_contradicts_the_costs_has_them_measured_anew(unmeasured, made):
    kept = costs_of(unmeasured)
    first = kept.model()
    kept.doubt((1.9, 0.6))
    assert stored(kept.file) == [first] and kept.drift == 1.9
    kept.doubt((2.1, 1.0))
    assert kept.model() == first and stored(kept.file) is None
    assert kept.refine() and kept.model() == made[-1] != first
    # What the runs before said was of other costs.
    assert kept.drift == 1.0


def test_runs_say_what_they_found(unmeasured, made, monkeypatch):
    said = []
    monkeypatch.setattr(KeptCosts, "doubt", lambda self, factors: said.append((factors, self.way.beside)))
    for method in ("duodecoding", "speculative", "vanilla"):
        trace = runner.collect(runner.stream(unmeasured, method, "hello", Settings(max_new_tokens=40)))
        if method != "vanilla":
            factors, beside = said[-1]
            assert factors == pytest.approx(trace["iterations"][-1]["factors"], abs=1e-4)
            assert beside == (method == "duodecoding")
    assert len(said) == 2


def change(file, side, row, value):
    content = json.loads(file.read_text())
    content["calibrations"][0][side][row] = value
    file.write_text(json.dumps(content))


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
def test_damaged_costs_are_measured_anew_and_written_again(unmeasured, cache, monkeypatch, damage):
    monkeypatch.setattr(kept_costs, "calibrate", lambda *models, beside, stopped: costs())
    for _ in range(2):
        kept = again(unmeasured)
        assert kept.model() == costs() and stored(kept.file) == [costs()]
        damage(kept.file)
        assert stored(kept.file) is None
    assert list(cache.iterdir()) == [kept.file]
