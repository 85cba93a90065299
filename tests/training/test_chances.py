"""The chance table is what a draft's tokens came to on rows that it was not trained on."""

import json

import numpy as np
import pytest

from duoviz.decoding.acceptance_table import EDGES, FILE, RANKS, fitted_table
from duoviz.models.llama import load_llama
from duoviz.models.ngrams import ALIKE, DIFFER, ONCE
from duoviz.training.fitting import Counts, count_copies, fit_chances


def test_a_draft_that_is_the_target_is_always_right(target_folder, tested, tmp_path):
    target, draft = (load_llama(target_folder, precision="float64", label="tiny") for _ in range(2))
    found = fit_chances(target, draft, tested)
    assert found.by_rank[0] > 0.9 and max(found.by_rank[1:]) < 0.05
    # Where there were many tokens, the prior does not matter.
    assert all(max(table[0]) > 0.9 for table in found.drafted)
    (tmp_path / FILE).write_text(json.dumps(vars(found)))
    assert fitted_table(tmp_path) == found


def test_few_tokens_lean_towards_their_probability():
    counts = Counts(RANKS, len(EDGES))
    counts.add((0, 3), True)
    shares = np.array(counts.shares(0.2))
    assert shares[0, 3] == round((1 + 8 * 0.2) / 9, 4) and (shares[1:] == 0.2).all()


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
    found = counted([1, 2, 3, 4, 9, 1, 2, 3, 4, 7, *more], own)
    assert found.tries[ONCE, 1, :4].tolist() == [1, 1, 1, 0] and found.hits[ONCE, 1, :3].tolist() == hits


def test_copies_are_counted_by_what_followed_the_last_two_times():
    for text, kind, hits in (([1, 5, 7, 2, 5, 7, 3, 5, 7], ALIKE, 1), ([1, 5, 7, 2, 5, 8, 3, 5, 7], DIFFER, 0)):
        found = counted(text, {8: 7})
        assert found.tries[kind, 0, 0] == found.tries.sum() == 1 and found.hits[kind, 0, 0] == hits


def counted(ids, own):
    counts = Counts(3, 4, 10)
    count_copies(counts, ids, own)
    return counts
