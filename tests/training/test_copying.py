"""The fitted trust in a look-up."""

import json

import numpy as np
import pytest

from duoviz.models.ngrams import ALIKE, DIFFER, ONCE, Match
from duoviz.training.copying import LARGEST_WEIGHT, LONGEST, Seen, fit_copying, fit_weights, observations
from duoviz.training.corpus import Corpus
from tests.weights import tiny_decoder


def test_a_weight_is_how_often_the_look_up_is_right_where_the_draft_knows_nothing():
    # A wrong look-up is explained by the draft whatever its q.
    seen = [Seen(Match(2, 5, 0, ALIKE), 0.0 if right else 0.5, right) for right in [True] * 7 + [False] * 3]
    weights = fit_weights(seen + [Seen(Match(2, 5, 0, DIFFER), 0.5, False)])
    assert weights[ALIKE][1] == pytest.approx(0.7) and weights[DIFFER][1] < 0.01
    assert weights[ONCE] == [0.0] * LONGEST and len(weights) == 3 and len(weights[ALIKE]) == LONGEST


def test_a_draft_that_knows_better_leaves_little_to_the_look_up():
    often = [True] * 7 + [False] * 3
    unsure, sure = ([Seen(Match(1, 5, 0, ONCE), q, right) for right in often] for q in (0.1, 0.9))
    assert fit_weights(sure)[ONCE][0] < fit_weights(unsure)[ONCE][0] < 0.7
    assert fit_weights([Seen(Match(3, 5, 0, ONCE), 0.01, True)] * 50)[ONCE][2] == LARGEST_WEIGHT


def test_fitted_on_a_corpus_and_written_to_the_config(tmp_path):
    rows = [[5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8], [9, 4, 9, 4, 9, 4, 9, 4]]
    answer = [place >= begin for row, begin in zip(rows, (4, 2), strict=True) for place in range(len(row))]
    corpus = Corpus(
        flat=np.array(sum(rows, [])), starts=np.array([0, 12, 20]), answer=np.array(answer),
        greedy=np.ones(2, bool), task=np.array(["qa", "qa"]), file=np.zeros(2, int), held_out=np.ones(2, bool),
    )  # fmt: skip
    draft = tiny_decoder(0)
    seen = observations(draft, corpus, [0, 1])
    # From the second time round on the look-up is always right; before, it has nothing to say.
    assert {each.right for each in seen} == {True} and {each.match.kind for each in seen} == {ONCE}
    assert len(seen) == 7 + 5
    (tmp_path / "config.json").write_text('{"model_type": "duoviz_draft"}')
    weights = fit_copying(draft, corpus, [0, 1], tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written == {"model_type": "duoviz_draft", "copying": weights} and max(map(max, weights)) == LARGEST_WEIGHT
