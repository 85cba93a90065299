"""The report and the files: everything is there, on its own, and nobody's text is markup."""

import csv
import json
import re

import pytest

from duoviz.decoding.costs import CONTEXTS
from duoviz.lab import paper
from duoviz.lab.answers import acceptance, rows_of, speed_up
from duoviz.lab.figures import figure_3, figure_4, time_split
from duoviz.lab.machine import cost_models
from duoviz.lab.paying import tree_ways
from duoviz.lab.prediction import ALPHAS, RATIOS, growth, seconds_between, speculative_phi
from duoviz.lab.report import first_view, report_html, sections
from duoviz.lab.results import load
from duoviz.lab.thumbnail import HEIGHT, WIDTH, thumbnail

EVERYTHING = [
    "table-1", "figure-3", "table-2", "table-3", "table-4", "figure-5", "figure-1", "figure-4", "time", "cost-model",
    "pays", "checks", "environment",
]  # fmt: skip
DRAWN = {"figure-1", "figure-3", "figure-4", "figure-5", "time", "cost-model", "pays"}


def test_a_run_fills_every_table_and_figure(finished):
    results = load(finished)
    parts = sections(results)
    assert [part.name for part in parts] == EVERYTHING
    assert {part.name for part in parts if part.figure} == DRAWN
    with_the_papers = {part.name for part in parts if part.papers == paper.CONDITIONS}
    assert with_the_papers == {"table-1", "table-2", "table-3"}
    for part in parts:
        assert all(table.lines for table in part.tables)
        if part.figure:
            assert part.figure.drawing.data and len(part.figure.data) > 1
            axes = [axis for axis in part.figure.drawing.layout if re.fullmatch("[xy]axis[0-9]*", axis)]
            titles = {(part.figure.drawing.layout[axis].title.text or "") for axis in axes}
            # A legend beside the plot does not scroll.
            beside = part.figure.drawing.layout.legend.orientation == "v"
            assert not beside or part.figure.drawing.layout.height >= 20 * len(part.figure.drawing.data) + 100
            unit = r", (ms|s|tokens|%|tokens/s)$|over|\bper\b"
            assert any(re.search(unit, title) for title in titles), f"{part.name}: an axis names its unit"


def test_the_files_are_written_and_the_numbers_can_be_traced(finished):
    report = (finished / "report.html").read_text()
    assert all(f'id="{name}"' in report for name in EVERYTHING)
    assert all((finished / "figures" / f"{name}.{kind}").is_file() for name in DRAWN for kind in ("csv", "html"))
    with (finished / "tables" / "table-1.csv").open(newline="") as file:
        lines = {(line["Method"], line["column"]): line for line in csv.DictReader(file)}
    rows = [row for row in load(finished).rows if row["model_id"] == "duodecoding" and row["task"] == "code"]
    answers = [row["choices"][0] for row in rows]
    speed = sum(sum(each["new_tokens"]) for each in answers) / sum(sum(each["wall_time"]) for each in answers)
    assert float(lines["DuoDecoding", "Code, tokens/s"]["value"]) == speed
    assert lines["DuoDecoding", "Code, tokens/s"]["n"] == "1"


@pytest.mark.parametrize("quick", [True, False])
def test_the_report_needs_nothing_else_and_warns_of_a_quick_run(finished, quick):
    results = load(finished)
    results.plan["quick"] = quick
    report = report_html(results, sections(results))
    assert ("This is a quick run" in report) == quick and (
        "Too few answers to say which method is the fastest." in report
    ) != quick
    own = report.replace(report[report.index("<script>") : report.index("</script>")], "")
    assert not re.search(r'(src|href)="(?!#)', own)


def test_texts_of_others_are_shown_as_texts(finished):
    results = load(finished)
    bad = "</script><img src=x onerror=alert(1)>"
    results.name = bad
    results.environment["models"]["target"] = bad
    results.rows = [row | {"task": bad} for row in results.rows]
    results.failed = [row | {"message": bad, "question_id": bad} for row in results.failed]
    report = report_html(results, sections(results, [results]))
    assert "<img" not in report and "&lt;img src=x" in report
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', report, re.DOTALL).group(1)
    assert set(json.loads(data)["drawings"]) == DRAWN


def test_the_map_is_the_cost_models_and_the_bars_are_table_1s(finished):
    results = load(finished)
    found = first_view(results)["overview"]
    costs = cost_models(results.environment)["in turn"]
    grown, one = growth(costs), costs.target_time(1, CONTEXTS[0])
    alone, in_turn = (seconds_between(rows_of(results.rows, lane)) / one for lane in ("vanilla", "speculative"))
    for alpha, ratio in ((0, 0), (20, 30), (48, 48)):
        expected = float((grown[0] + alone) * speculative_phi(ALPHAS[alpha], RATIOS[ratio], grown, in_turn))
        assert found["pays"]["panels"][0]["here"][alpha][ratio] == pytest.approx(expected, abs=6e-4)
    lines = {line["method"]: line for line in found["speeds"]["lines"]}
    base = rows_of(results.rows, "vanilla", "code")
    code = speed_up(rows_of(results.rows, "duodecoding", "code"), base)
    assert lines["DuoDecoding"]["here"]["Code"] == {"phi": code.value, "noise": code.spread, "n": code.n}
    mine, theirs = (paper.TABLE_1["Llama-2-7b"][lane] for lane in ("duodecoding", "vanilla"))
    assert lines["DuoDecoding"]["paper"]["Llama-2-7b"]["All tasks"] == mine[-1]
    assert lines["DuoDecoding"]["paper"]["Llama-2-7b"]["Code"] == pytest.approx(mine[6] / theirs[6])
    tree, ways = found["pays"]["panels"][2], tree_ways(results.environment)["here"]
    assert tree["method"] == "DuoTree" and tree["here"][20][30] == pytest.approx(ways.phi[20, 30], abs=6e-4)
    assert (tree["beside"]["here"][20][30] > 0) == (ways.beside[20, 30] > ways.in_turn[20, 30])
    # The draft's best tokens are those that SpS tests.
    accepted = acceptance(rows_of(results.rows, "speculative", "code")).rate
    for panel in found["pays"]["panels"]:
        assert {each["task"]: each["alpha"] for each in panel["points"]}["Code"] == accepted
    assert lines["DuoTree"]["paper"] == {"Vicuna-7b-v1.5": {}, "Llama-2-7b": {}}


def test_a_picture_has_its_figures_bars_inside_it(finished):
    results = load(finished)
    for drawing in (figure_3(results).drawing, figure_4(results).drawing, time_split(results).drawing):
        boxes = re.findall(r'x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"', thumbnail(drawing))
        assert len(boxes) == sum(len(trace.x) for trace in drawing.data if trace.type == "bar")
        for x, y, width, height in (map(float, box) for box in boxes):
            assert x >= 0 and y >= 0 and x + width <= WIDTH + 0.2 and y + height <= HEIGHT + 0.2
    assert "<rect" in thumbnail(None)
