"""A tiny sweep: every variant is trained once, kept, and its cost and speed predicted."""

import json
from dataclasses import replace

import pytest

from duoviz.training.distillation import Recipe
from tests.benchmarks import draft_sweep as sweeping
from tests.benchmarks.draft_sweep import measure, named, predicted, results, sweep, table
from tests.decoding.made_costs import costs as made_up
from tests.tiny import give_costs, tiny_engine

TINY = Recipe(tokens=0, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sweeping, "BASE", TINY)
    monkeypatch.setattr(sweeping, "SHAPES", ({}, {"layers": 2}))
    monkeypatch.setattr(sweeping, "PEAKS", ({"peak": 4e-4},))


def test_every_variant_is_trained_once_and_costs_are_those_of_a_shape(
    target_folder, corpus_files, tmp_path, monkeypatch
):
    lines = []
    sweep(target_folder, corpus_files, tmp_path, tokens=300, report=lines.append)
    found = [result for result, _ in results(tmp_path)]
    assert [named(result["change"]) for result in found] == ["base", "layers_2", "peak_0.0004"]
    for result in found:
        assert result["recipe"] == json.loads(json.dumps(vars(replace(TINY, tokens=300, **result["change"]))))
        assert abs(result["float32"] - result["int8"]) < 0.1 and 0 <= result["copying"]["top1"] <= 1
        assert set(result["copying"]["by_task"]) == {"code", "qa"} and len(result["copying"]["by_position"]) == 8
    again = []
    sweep(target_folder, corpus_files, tmp_path, tokens=300, report=again.append)
    assert lines and not again
    costs = made_up(0.03, 0.003)
    rows = [result | predicted(costs, costs, result["copying"]["top1"]) for result in found]
    text = table(rows)
    assert text.count("\n") == 5 and "| layers 2 |" in text
    monkeypatch.setattr(sweeping, "SECONDS", 0.001)
    engine = tiny_engine()
    give_costs(engine, made_up(0.03, 0.003))
    rows = measure(engine, tmp_path, report=lambda text: None)
    one, two, one_of_another_rate = (row["draft_ms"] for row in rows)
    assert one == one_of_another_rate and one != two and all(milliseconds > 0 for milliseconds in one + two)
    assert all(row["speculative"] > 0 and row["duodecoding"] > 0 for row in rows)
    assert (tmp_path / "table.md").read_text() == table(rows)
    (tmp_path / "base" / "result.json").unlink()
    assert len(list(results(tmp_path))) == 2


def test_a_surer_draft_and_a_cheaper_one_are_faster():
    cheap, dear = made_up(0.03, 0.001), made_up(0.03, 0.02)
    assert predicted(cheap, cheap, 0.6)["speculative"] > predicted(cheap, cheap, 0.4)["speculative"]
    assert predicted(cheap, cheap, 0.5)["speculative"] > predicted(dear, dear, 0.5)["speculative"]
    assert predicted(cheap, cheap, 0.5)["duodecoding"] > predicted(dear, dear, 0.5)["duodecoding"]
    assert predicted(cheap, cheap, 0.5)["draft_ms"][0] == 1.0
