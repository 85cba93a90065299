"""The trust in a look-up, assumed and fitted."""

import json

import numpy as np
import pytest
import torch

from duoviz.models.ngrams import ALIKE, DIFFER, ONCE
from duoviz.training import fitting
from duoviz.training.corpus import Row
from duoviz.training.fitting import LARGEST_WEIGHT, LONGEST, assumed, fit_copying, fit_weights, observe
from tests.weights import tiny_decoder


def row(ids, places):
    return Row(np.array(ids), np.array(places), greedy=True, held_out=True)


def test_a_weight_is_how_often_the_look_up_is_right_where_the_draft_knows_nothing():
    # A wrong look-up is explained by the draft whatever its q.
    seen = [(0.0, True)] * 7 + [(0.5, False)] * 3
    weights = fit_weights({(ALIKE, 2): seen, (DIFFER, 2): [(0.5, False)]})
    assert weights[ALIKE][1] == pytest.approx(0.7) and weights[DIFFER][1] < 0.01
    assert weights[ONCE] == [0.0] * LONGEST and len(weights) == 3 and len(weights[ALIKE]) == LONGEST


def test_a_draft_that_knows_better_leaves_little_to_the_look_up():
    often = [True] * 7 + [False] * 3
    unsure, sure = (fit_weights({(ONCE, 1): [(q, right) for right in often]})[ONCE][0] for q in (0.1, 0.9))
    assert sure < unsure < 0.7
    assert fit_weights({(ONCE, 3): [(0.01, True)] * 50})[ONCE][2] == LARGEST_WEIGHT


def test_fitted_on_a_corpus_and_written_to_the_config(tmp_path):
    rows = [row([5, 6, 7, 8] * 3, range(4, 12)), row([9, 4] * 4, range(2, 8))]
    draft = tiny_decoder(0)
    seen = observe(draft, rows)
    # From the second time round on the look-up is always right; before, it has nothing to say.
    assert {kind for kind, _ in seen} == {ONCE} and sum(map(len, seen.values())) == 7 + 5
    assert all(right for answers in seen.values() for _, right in answers)
    (tmp_path / "config.json").write_text('{"model_type": "duoviz_draft"}')
    weights = fit_copying(draft, rows, tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written == {"model_type": "duoviz_draft", "copying": weights} and max(map(max, weights)) == LARGEST_WEIGHT


def test_what_is_assumed_is_the_look_up_before_each_answer_token(monkeypatch):
    monkeypatch.setattr(fitting, "START_WEIGHTS", [[number / 10 for number in range(1, 9)]] * 3)
    text = [5, 6, 7, 5, 6, 7, 5, 9]
    columns, weights = assumed([row(text, [3, 5, 6, 7])], torch.tensor([4, 5, 6, 7]))
    # Before place 3 nothing repeats; then 5 6 → 7, 5 6 7 → 5, 5 6 7 5 → 6.
    assert columns.tolist() == [0, 3, 1, 2] and weights.tolist() == pytest.approx([0, 0.2, 0.3, 0.4])
    assert assumed([row(text, [5])], torch.tensor([5, 6]))[1].tolist() == [0]  # the head does not know 7
