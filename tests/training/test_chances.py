"""The chance table is what a draft's tokens came to on rows that it was not trained on."""

import numpy as np

from duoviz.decoding.chances import EDGES, RANKS, chances_of
from duoviz.models.llama import load_llama
from duoviz.training.chances import Counts, count_copies, fit_chances, save_chances


def test_a_draft_that_is_the_target_is_always_right(target_folder, corpus, tmp_path):
    target, draft = (load_llama(target_folder, precision="float64", label="tiny") for _ in range(2))
    rows = corpus.rows(held_out=True)
    found = fit_chances(target, draft, corpus, rows, report=lambda text: None)
    assert found.by_rank[0] > 0.9 and max(found.by_rank[1:]) < 0.05
    # Where there were many tokens, the prior does not matter.
    assert max(found.greedy[0]) > 0.9 and all(max(table[0]) > 0.9 for table in found.sampled)
    save_chances(found, tmp_path)
    assert chances_of(tmp_path) == found


def test_few_tokens_lean_towards_their_probability():
    counts = Counts(RANKS, len(EDGES))
    counts.add((0, 3), True)
    shares = np.array(counts.shares(0.2))
    assert shares[0, 3] == round((1 + 8 * 0.2) / 9, 4) and (shares[1:] == 0.2).all()


def test_copies_are_counted_up_to_the_first_wrong_one():
    counts = Counts(4, 10)
    # 1 2 3 4 stood there; after 1 2 come 3 4 again, then another token.
    count_copies(counts, [1, 2, 3, 4, 9, 1, 2, 3, 4, 7], [7])
    assert counts.tries[1, :4].tolist() == [1, 1, 1, 0] and counts.hits[1, :3].tolist() == [1, 1, 0]
    assert counts.tries.sum() == 3
