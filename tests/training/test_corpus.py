"""Corpus files read as one, and batches of them."""

import numpy as np

from duoviz.training.corpus import batches


def test_files_become_one_corpus_with_held_out_rows_of_each(corpus):
    assert len(corpus) == 360 and len(corpus.rows(held_out=True)) == 80
    assert corpus.rows(held_out=True) == [*range(160, 200), *range(320, 360)]
    assert not set(corpus.rows(held_out=True)) & set(corpus.rows(held_out=False))
    assert sum(corpus.length(row) for row in range(360)) == len(corpus.flat) == len(corpus.answer)
    row = 205
    places = corpus.answered(row)
    assert places[0] == 4 and 7 not in places and len(corpus.row(row)) == corpus.length(row)
    assert corpus.task[205] == "code"


def test_batches_hold_every_row_once(corpus):
    rows = corpus.rows(held_out=False)
    groups = batches(corpus, rows, tokens=100, rng=np.random.default_rng(1))
    assert sorted(row for group in groups for row in group) == rows
    assert all(len(group) * max(map(corpus.length, group)) <= 100 for group in groups)
