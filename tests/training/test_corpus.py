"""Corpus files read as one, and batches of them."""

from dataclasses import replace

import numpy as np

from duoviz.training.corpus import batches, load_corpus


def test_files_become_one_corpus_with_held_out_rows_of_each(corpus):
    assert len(corpus) == 360 and len(corpus.rows(held_out=True)) == 80
    assert corpus.rows(held_out=True) == [*range(160, 200), *range(320, 360)]
    assert not set(corpus.rows(held_out=True)) & set(corpus.rows(held_out=False))
    assert sum(corpus.length(row) for row in range(360)) == len(corpus.flat) == len(corpus.answer)
    row = 205
    places = corpus.answered(row)
    assert places[0] == 4 and 7 not in places and len(corpus.row(row)) == corpus.length(row)
    assert corpus.task[205] == "code"


def test_a_row_with_a_held_out_rows_answers_is_not_trained_on(corpus, corpus_files, tmp_path):
    with np.load(corpus_files[0]) as arrays:
        rows = {name: arrays[name].copy() for name in arrays}
    # The first row once more at the end, after another question.
    length = rows["length"][0]
    first = {name: np.concatenate([rows[name], rows[name][:length]]) for name in ("flat", "answer")}
    first["flat"][-length] += 1
    rows |= first | {name: np.concatenate([rows[name], rows[name][:1]]) for name in ("length", "greedy", "task")}
    np.savez(tmp_path / "more.npz", **rows)
    more = load_corpus([corpus_files[1], tmp_path / "more.npz"], held_out=1)
    assert more.rows(held_out=True) == [159, 160, 360]


def test_a_whole_corpus_leaves_out_what_every_row_begins_with(corpus):
    flat = corpus.flat.copy()
    for place, token in enumerate((7, 8, 9)):
        flat[corpus.starts[:-1] + place] = token
    flat[corpus.starts[5] + 2] = 1
    whole = replace(corpus, flat=flat).all_answered()
    assert all(whole.answered(row).tolist() == list(range(2, corpus.length(row))) for row in (0, 5, 359))
    # The first has nothing before it.
    assert corpus.all_answered().answered(0).tolist() == list(range(1, corpus.length(0)))


def test_batches_hold_every_row_once(corpus):
    rows = corpus.rows(held_out=False)
    groups = batches(corpus, rows, tokens=100, rng=np.random.default_rng(1))
    assert sorted(row for group in groups for row in group) == rows
    assert all(len(group) * max(map(corpus.length, group)) <= 100 for group in groups)


def test_the_most_frequent_ids_are_those_of_the_rows_that_are_trained_on(corpus):
    flat = np.where(np.repeat(corpus.held_out, np.diff(corpus.starts)), 5, corpus.flat % 2 * 40)
    flat[:3] = 33
    frequent = replace(corpus, flat=flat).most_frequent
    assert frequent(3).tolist() == [0, 33, 40]  # 5 stands in held-out rows only
    assert frequent(5).tolist() == [0, 1, 2, 33, 40]
