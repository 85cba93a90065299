"""Files that are read as one corpus: what is held out, which ids are frequent."""

import numpy as np

from duoviz.training import corpus as files
from duoviz.training.corpus import load_corpus, most_frequent


def test_files_become_one_corpus_with_held_out_rows_of_each(corpus):
    assert [number for number, row in enumerate(corpus) if row.held_out] == [*range(160, 200), *range(320, 360)]
    row = corpus[205]
    assert row.places[0] == 4 and 7 not in row.places


def test_a_row_with_a_held_out_rows_answers_is_not_trained_on(corpus_files, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "HELD_OUT", 1)
    arrays = dict(np.load(corpus_files[0]))
    count = arrays["length"][0]
    # The first row once more at the end, after another question.
    more = {name: np.append(array, array[: count if len(array) > 200 else 1]) for name, array in arrays.items()}
    more["flat"][-count] += 1
    np.savez(tmp_path / "more.npz", **more)
    rows = load_corpus([corpus_files[1], tmp_path / "more.npz"])
    assert [number for number, row in enumerate(rows) if row.held_out] == [159, 160, 360]


def test_the_most_frequent_ids_are_ascending_and_of_equals_the_lowest(corpus):
    for row in corpus:
        row.ids[:] = row.ids % 2 * 40
    corpus[0].ids[:3] = 33
    assert most_frequent(corpus, 3).tolist() == [0, 33, 40] and most_frequent(corpus, 5).tolist() == [0, 1, 2, 33, 40]
