"""What a forward of both models costs: measured once, remembered in a file, and gone on from in the next process."""

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from duoviz.decoding import calibration
from duoviz.decoding import engine as engine_module
from duoviz.decoding.calibration import calibrate, costs_file, measure_target, recall_costs, remember_costs
from duoviz.decoding.costs import ROW_COUNTS, Costs
from duoviz.decoding.forward import Stopped
from duoviz.decoding.iteration import Span
from duoviz.decoding.placement import Placement
from duoviz.decoding.sampling import DraftNotFinite
from tests.tiny import tiny_engine, traced


def calibrated(engine, *, beside=True, **options):
    costs = Costs()
    calibrate(engine.pair.target, engine.draft_beside, costs, beside=beside, **options)
    return costs.model


@pytest.mark.parametrize("beside", [True, False])
def test_a_calibration_ends_between_two_forwards(beside):
    asked = iter([False] * 5)
    with pytest.raises(Stopped):
        calibrated(tiny_engine(), beside=beside, stopped=lambda: next(asked, True))


@pytest.mark.parametrize("held_up", range(2 * len(ROW_COUNTS)))
def test_a_forward_that_was_held_up_does_not_count(held_up, monkeypatch):
    """The first one is, by what it has to make ready."""
    seconds = iter(9.0 if number == held_up else 1.0 for number in range(2 * len(ROW_COUNTS)))
    timed = lambda model, ids: (model.forward(ids), Span(0.0, next(seconds), len(ids)))  # noqa: E731
    monkeypatch.setattr(calibration, "timed_forward", timed)
    forwards = measure_target(tiny_engine().pair.target)
    assert [(forward.rows, forward.seconds) for forward in forwards] == [(rows, 1.0) for rows in ROW_COUNTS[::-1]]


@pytest.mark.parametrize("beside", [True, False])
def test_a_short_context_is_measured_at_its_end(beside):
    costs = calibrated(tiny_engine(context=40), beside=beside)
    assert all(time > 0 for row in (*costs.target, *costs.draft) for time in row)


def test_a_draft_step_is_timed_as_drafting_makes_it_also_where_its_logits_are_not_finite(monkeypatch):
    rows = []

    def broken(model, tokens, *rest):
        rows.append(len(tokens))
        raise DraftNotFinite

    monkeypatch.setattr(calibration, "step", broken)
    assert min(calibrated(tiny_engine(), beside=False).draft[0]) > 0 and rows == 3 * [*range(1, 9)]


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


def placement_of(engine, *, beside=True):
    return Placement(beside, engine.pair.cores.target)


def test_measured_once_and_remembered(unmeasured, monkeypatch):
    placement = placement_of(unmeasured)
    measured = unmeasured.known_costs(placement).model
    assert all(time > 0 for row in (*measured.target, *measured.draft) for time in row)
    monkeypatch.setattr(engine_module, "calibrate", pytest.fail)
    assert unmeasured.known_costs(placement).model == measured
    unmeasured.kept_costs.clear()
    again = unmeasured.known_costs(placement)
    assert np.allclose(again.model.target, measured.target, rtol=1e-9) and again.target.count > 0


def test_what_a_run_has_shown_is_remembered(unmeasured, monkeypatch):
    monkeypatch.setattr(Costs, "outdated", False)
    placement = placement_of(unmeasured)
    before = unmeasured.known_costs(placement).target.count
    traced(unmeasured, max_new_tokens=30)
    kept = json.loads(costs_file(unmeasured.pair, placement).read_text())["target"]
    assert kept["count"] > before and kept["seen"] > 0
    assert kept["table"][0] == pytest.approx(unmeasured.costs(placement).model.target[0])


def test_outdated_costs_are_measured_again_after_a_run(unmeasured):
    costs = unmeasured.known_costs(placement_of(unmeasured))
    costs.target.logs = [[entry + 20 for entry in logs] for logs in costs.target.logs]
    traced(unmeasured, max_new_tokens=30)
    renewed = unmeasured.costs(placement_of(unmeasured))
    assert renewed is not costs and renewed.draft.count > 0


def test_each_way_is_kept_apart(unmeasured):
    beside, in_turn = (placement_of(unmeasured, beside=beside) for beside in (True, False))
    assert unmeasured.costs(beside) is unmeasured.costs(beside) is not unmeasured.costs(in_turn)
    assert costs_file(unmeasured.pair, beside) != costs_file(unmeasured.pair, in_turn)


def test_where_nothing_can_be_written_runs_go_on(unmeasured, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", "/dev/null/nowhere")
    assert traced(unmeasured, "duotree", max_new_tokens=9)["end"]["text"]


def change(file, side, name, value):
    content = json.loads(file.read_text())
    content[side][name] = value
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b"\xff\xfe{}"),
        *(partial(Path.write_text, data=text) for text in ("", "[]", "7", "{}", '{"target": 7}', "[" * 100_000)),
        *(
            partial(change, side="target", name="table", value=[[0.01] * 6, [0.01] * 5 + [value]])
            for value in (0, -0.01, math.nan, math.inf, 1e-12, 1e9, 10**400, None, [], "soon")
        ),
        partial(change, side="target", name="table", value=[[0.01] * 6]),
        partial(change, side="draft", name="table", value=[[0.01] * 9] * 2),
        *(partial(change, side="draft", name="count", value=value) for value in (math.inf, "many")),
        *(partial(change, side="target", name="slowdown", value=value) for value in (0, math.nan, 1e9, None)),
        partial(change, side="target", name="seen", value="soon"),
    ],
)
def test_damaged_costs_are_none(engine, cache, damage):
    placement = placement_of(engine)
    file = costs_file(engine.pair, placement)
    remember_costs(file, engine.costs(placement))
    damage(file)
    assert recall_costs(file).target.count == recall_costs(file).draft.count == 0
    remember_costs(file, engine.costs(placement))
    assert recall_costs(file).target.count > 0 and list(cache.iterdir()) == [file]
