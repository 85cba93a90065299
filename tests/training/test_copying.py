"""The fitted trust in a look-up."""

import json

import numpy as np
import pytest

from duoviz.training.copying import LARGEST_WEIGHT, LONGEST, fit_copying, fit_weights, observations
from duoviz.training.corpus import Corpus
from tests.tiny import lean, reference_model


def test_a_weight_is_how_often_the_look_up_is_right_where_the_draft_knows_nothing():
    seen = [(2, 0.0, right) for right in [True] * 7 + [False] * 3]
    # A wrong look-up is explained by the draft whatever its q.
    seen = [(n, q if right else 0.5, right) for n, q, right in seen]
    weights = fit_weights(seen)
    assert weights[1] == pytest.approx(0.7) and weights[0] == 0.0 and len(weights) == LONGEST


def test_a_draft_that_knows_better_leaves_little_to_the_look_up():
    often = [True] * 7 + [False] * 3
    unsure, sure = ([(1, q, right) for right in often] for q in (0.1, 0.9))
    assert fit_weights(sure)[0] < fit_weights(unsure)[0] < 0.7
    assert fit_weights([(3, 0.01, True)] * 50)[2] == LARGEST_WEIGHT


def test_fitted_on_a_corpus_and_written_to_the_config(tmp_path):
    rows = [[5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8], [9, 4, 9, 4, 9, 4, 9, 4]]
    answer = [place >= begin for row, begin in zip(rows, (4, 2), strict=True) for place in range(len(row))]
    corpus = Corpus(
        flat=np.array(sum(rows, [])), starts=np.array([0, 12, 20]), answer=np.array(answer),
        greedy=np.ones(2, bool), task=np.array(["qa", "qa"]), held_out=np.ones(2, bool),
    )  # fmt: skip
    draft = lean(reference_model(0))
    seen = observations(draft, corpus, [0, 1])
    # From the second time round on the look-up is always right; before, it has nothing to say.
    assert [n for n, _, right in seen if right] and not [n for n, _, right in seen if not right]
    assert len(seen) == 7 + 5
    (tmp_path / "config.json").write_text('{"model_type": "duoviz_draft"}')
    weights = fit_copying(draft, corpus, [0, 1], tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written == {"model_type": "duoviz_draft", "copying": weights} and max(weights) == LARGEST_WEIGHT
