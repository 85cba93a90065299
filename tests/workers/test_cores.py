"""How a machine's cores are shared out to workers."""

import pytest

from duoviz.workers.local import number_of_workers, shares


@pytest.mark.parametrize(
    "cores, workers, expected",
    [
        ([0, 1], 1, [[0, 1]]),
        ([0, 1], 2, [[0], [1]]),
        ([2, 3, 6, 7, 9], 2, [[2, 3], [6, 7, 9]]),
        (list(range(8)), 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ],
)
def test_each_core_has_one_worker_and_no_worker_lacks_any(cores, workers, expected):
    assert shares(cores, workers) == expected


@pytest.mark.parametrize(
    "chosen, cores, expected",
    [(None, 8, 1), ("3", 8, 3), (" 2 ", 2, 2), ("auto", 1, 1), ("auto", 4, 1), ("auto", 8, 2), ("auto", 16, 5)],
)
def test_the_number_of_workers(chosen, cores, expected, monkeypatch):
    monkeypatch.delenv("DUOVIZ_PLACES", raising=False)
    assert number_of_workers(chosen, cores) == expected
    if chosen:
        monkeypatch.setenv("DUOVIZ_PLACES", chosen)
        assert number_of_workers(None, cores) == expected
