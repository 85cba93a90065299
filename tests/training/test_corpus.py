"""Corpus files read as one, and batches of them."""

from dataclasses import replace

import numpy as np

from duoviz.training.corpus import batches, load_corpus, most_frequent, whole_texts


def test_files_become_one_corpus_with_held_out_rows_of_each(corpus):
    assert [number for number, row in enumerate(corpus) if row.held_out] == [*range(160, 200), *range(320, 360)]
    row = corpus[205]
    assert row.places[0] == 4 and 7 not in row.places


def test_a_row_with_a_held_out_rows_answers_is_not_trained_on(corpus_files, tmp_path):
    with np.load(corpus_files[0]) as arrays:
        rows = {name: arrays[name].copy() for name in arrays}
    # The first row once more at the end, after another question.
    length = rows["length"][0]
    first = {name: np.concatenate([rows[name], rows[name][:length]]) for name in ("flat", "answer")}
    first["flat"][-length] += 1
    rows |= first | {name: np.concatenate([rows[name], rows[name][:1]]) for name in ("length", "greedy")}
    np.savez(tmp_path / "more.npz", **rows)
    more = load_corpus([corpus_files[1], tmp_path / "more.npz"], held_out=1)
    assert [number for number, row in enumerate(more) if row.held_out] == [159, 160, 360]


def test_a_whole_corpus_leaves_out_what_every_row_begins_with(corpus):
    same = [replace(row, ids=np.array([7, 8, 9, *row.ids[3:]])) for row in corpus]
    same[5].ids[2] = 1
    assert all(row.places.tolist() == list(range(2, len(row.ids))) for row in whole_texts(same))
    # The first token has nothing before it.
    assert whole_texts(corpus)[0].places.tolist() == list(range(1, len(corpus[0].ids)))


def test_batches_hold_every_row_once(corpus):
    groups = batches(corpus, tokens=100, rng=np.random.default_rng(1))
    assert {row for group in groups for row in group} == set(corpus) and sum(map(len, groups)) == 360
    assert all(len(group) * max(len(row.ids) for row in group) <= 100 for group in groups)


def test_the_most_frequent_ids_are_ascending_and_of_equals_the_lowest(corpus):
    rows = [replace(row, ids=row.ids % 2 * 40) for row in corpus]
    rows[0].ids[:3] = 33
    assert most_frequent(rows, 3).tolist() == [0, 33, 40] and most_frequent(rows, 5).tolist() == [0, 1, 2, 33, 40]
