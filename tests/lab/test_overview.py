"""What the Lab shows first: the results' own numbers beside the paper's, and pictures of a figure's numbers."""

import json
import re

import pytest

from duoviz.lab import paper
from duoviz.lab.course import cost_models
from duoviz.lab.figures import figure_3, figure_4, time_split
from duoviz.lab.overview import overview
from duoviz.lab.paying import tree_ways
from duoviz.lab.prediction import ALPHAS, RATIOS, growth, speculative_phi
from duoviz.lab.results import load
from duoviz.lab.sample import sample
from duoviz.lab.thumbnail import HEIGHT, WIDTH, thumbnail
from duoviz.lab.values import acceptance, phi, rows_of
from duoviz.lab.view import first_view, parts_of
from duoviz.recordings import FOLDER
from duoviz.trace.metrics import metrics


def test_the_map_is_the_cost_models_and_the_bars_are_table_1s(finished):
    results = load(finished)
    found = overview(results)
    grown = growth(cost_models(results.environment)["in turn"])
    for alpha, ratio in ((0, 0), (20, 30), (48, 48)):
        expected = float(speculative_phi(ALPHAS[alpha], RATIOS[ratio], grown))
        assert found["pays"]["panels"][0]["here"][alpha][ratio] == pytest.approx(expected, abs=6e-4)
    lines = {line["method"]: line for line in found["speeds"]["lines"]}
    base = rows_of(results.rows, "vanilla", "code")
    code = phi(rows_of(results.rows, "duodecoding", "code"), base, ["code"])
    assert lines["DuoDecoding"]["here"]["Code"] == {"phi": code.value, "spread": code.spread, "n": code.n}
    mine, theirs = (paper.TABLE_1["Llama-2-7b"][lane] for lane in ("duodecoding", "vanilla"))
    assert lines["DuoDecoding"]["paper"]["Llama-2-7b"]["All tasks"] == mine[-1]
    assert lines["DuoDecoding"]["paper"]["Llama-2-7b"]["Code"] == pytest.approx(mine[6] / theirs[6])
    tree, ways = found["pays"]["panels"][2], tree_ways(results.environment)["here"]
    assert tree["method"] == "DuoTree" and tree["here"][20][30] == pytest.approx(ways.phi[20, 30], abs=6e-4)
    assert (tree["beside"]["here"][20][30] > 0) == (ways.beside[20, 30] > ways.in_turn[20, 30])
    # The draft's best tokens are those that SpS tests.
    accepted = acceptance(rows_of(results.rows, "speculative", "code")).rate
    assert {each["task"]: each["alpha"] for each in tree["points"]}["Code"] == accepted
    assert lines["DuoTree"]["paper"] == {"Vicuna-7b-v1.5": {}, "Llama-2-7b": {}}


def test_a_sample_is_the_recordings_own_and_labelled(tmp_path):
    made = sample(FOLDER)
    for row in made.rows:
        trace = json.loads((FOLDER / f"{row['model_id']}.duoviz.json").read_text())
        assert row["measured"][0]["metrics"] == metrics(trace)
    assert "A sample that allows no conclusion" in first_view(made)["about"] and "table-1" in parts_of(made)
    assert sample(tmp_path) is None


def test_a_picture_has_its_figures_bars_inside_it(finished):
    results = load(finished)
    for drawing in (figure_3(results).drawing, figure_4(results).drawing, time_split(results).drawing):
        boxes = re.findall(r'x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"', thumbnail(drawing))
        assert len(boxes) == sum(len(trace.x) for trace in drawing.data if trace.type == "bar")
        for x, y, width, height in (map(float, box) for box in boxes):
            assert x >= 0 and y >= 0 and x + width <= WIDTH + 0.2 and y + height <= HEIGHT + 0.2
    assert "<rect" in thumbnail(None)
