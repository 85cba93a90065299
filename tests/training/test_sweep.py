"""A tiny sweep: every variant is trained once, kept, and its cost and speed predicted."""

import json
from dataclasses import replace

from duoviz.training.distillation import Recipe
from tests.benchmarks import draft_sweep as sweeping
from tests.benchmarks.draft_sweep import cells, measure, named, results, sweep
from tests.decoding.made_costs import costs as made_up
from tests.tiny import give_costs, tiny_engine

TINY = Recipe(tokens=0, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


def test_every_variant_is_trained_once_and_costs_are_those_of_a_shape(
    target_folder, corpus, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(sweeping, "BASE", TINY)
    monkeypatch.setattr(sweeping, "CHANGES", ({}, {"layers": 2}, {"peak": 4e-4}))
    monkeypatch.setattr(sweeping, "SECONDS", 0.001)
    sweep(target_folder, corpus, tmp_path, tokens=300)
    found = [result for result, _ in results(tmp_path)]
    assert [named(result["change"]) for result in found] == ["base", "layers_2", "peak_0.0004"]
    for result in found:
        assert result["recipe"] == json.loads(json.dumps(vars(replace(TINY, tokens=300, **result["change"]))))
    capsys.readouterr()
    sweep(target_folder, corpus, tmp_path, tokens=300)
    assert not capsys.readouterr().out
    engine = tiny_engine()
    give_costs(engine, made_up(0.03, 0.003))
    rows = measure(engine, tmp_path)
    one, two, one_of_another_rate = (row["draft_ms"] for row in rows)
    assert one == one_of_another_rate and one != two and all(milliseconds > 0 for milliseconds in one + two)
    assert cells(rows[1])[0] == "layers 2" and {len(cells(row)) for row in rows} == {len(sweeping.HEAD)}
