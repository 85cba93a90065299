"""The trust in a look-up, and the chance table: what a draft's tokens came to on held-out rows."""

import json

import numpy as np
import pytest

from duoviz.decoding.acceptance_table import FILE, LONGEST_MATCH, PLACES, fitted_table
from duoviz.models.ngrams import ALIKE, DIFFER, ONCE
from duoviz.training.corpus import Row
from duoviz.training.fitting import LARGEST_WEIGHT, count_copies, fit_chances, fit_copying, fit_weight
from tests.models.folders import loaded
from tests.weights import tiny_decoder


def row(ids, places):
    return Row(np.array(ids), True, np.array(places))


def test_a_weight_is_how_often_the_look_up_is_right_where_the_draft_knows_nothing():
    # A wrong look-up is explained by the draft whatever its q.
    assert fit_weight([(0.0, True)] * 7 + [(0.5, False)] * 3) == pytest.approx(0.7)
    assert fit_weight([(0.5, False)]) < 0.01 and fit_weight([]) == 0.0
    assert fit_weight([(0.01, True)] * 50) == LARGEST_WEIGHT
    unsure, sure = (fit_weight([(q, right) for right in [True] * 7 + [False] * 3]) for q in (0.1, 0.9))
    assert sure < unsure < 0.7


def test_weights_are_fitted_on_a_corpus():
    # From the second time round on the look-up is always right; before, it has nothing to say.
    weights = fit_copying(tiny_decoder(0), [row([5, 6, 7, 8] * 3, range(4, 12)), row([9, 4] * 4, range(2, 8))])
    assert max(weights[ONCE]) == LARGEST_WEIGHT and not any(weights[ALIKE] + weights[DIFFER])


def test_a_draft_that_is_the_target_is_always_right(target_folder, tested, tmp_path):
    target, draft = (loaded(target_folder, "float64") for _ in range(2))
    found = fit_chances(target, draft, tested)
    assert found.by_rank[0] > 0.9 and max(found.by_rank[1:]) < 0.05
    # Where there were many tokens, the prior does not matter.
    assert all(max(table[0]) > 0.9 for table in found.drafted)
    (tmp_path / FILE).write_text(json.dumps(vars(found)))
    assert fitted_table(tmp_path) == found


@pytest.mark.parametrize(
    "more, own, hits",
    [
        # 1 2 3 4 stood there; after 1 2 come 3 4 again, then another token.
        ([], {7: 3, 8: 4, 9: 7}, [1, 1, 0]),
        # The target writes another token than the text has; the text goes on all the same.
        ([], {7: 5, 8: 4, 9: 7}, [0, 1, 0]),
        # It writes what stood there where the text goes on otherwise: that is a hit, and the last that can be counted.
        ([6], {7: 3, 8: 4, 9: 9, 10: 6}, [1, 1, 1]),
    ],
)
def test_copies_are_counted_as_far_as_the_text_goes_on_so(more, own, hits):
    found = counted([1, 2, 3, 4, 9, 1, 2, 3, 4, 7, *more], own)[ONCE, 1]
    assert found[:4].sum(-1).tolist() == [1, 1, 1, 0] and found[:3, 1].tolist() == hits


def test_copies_are_counted_by_what_followed_the_last_two_times():
    for text, kind, hits in (([1, 5, 7, 2, 5, 7, 3, 5, 7], ALIKE, 1), ([1, 5, 7, 2, 5, 8, 3, 5, 7], DIFFER, 0)):
        found = counted(text, {8: 7})
        assert found[kind, 0, 0, hits] == found.sum() == 1


def counted(ids, own):
    counts = np.zeros((3, LONGEST_MATCH, PLACES, 2))
    count_copies(counts, ids, own)
    return counts
