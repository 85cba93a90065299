"""How a machine's cores are shared out to places."""

import pytest

from duoviz.decoding.settings import SettingsError
from duoviz.places.sharing import number_of_places, shares


@pytest.mark.parametrize(
    "cores, places, expected",
    [
        ([0, 1], 1, [[0, 1]]),
        ([0, 1], 2, [[0], [1]]),
        ([2, 3, 6, 7, 9], 2, [[2, 3], [6, 7, 9]]),
        (list(range(8)), 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ],
)
def test_each_core_has_one_place_and_no_place_lacks_any(cores, places, expected):
    assert shares(cores, places) == expected


@pytest.mark.parametrize(
    "chosen, cores, expected",
    [
        (None, 8, 1),
        ("3", 8, 3),
        (" 2 ", 2, 2),
        ("auto", 1, 1),
        ("auto", 2, 1),
        ("auto", 4, 1),
        ("auto", 8, 2),
        ("auto", 16, 5),
    ],
)
def test_the_number_of_places(chosen, cores, expected, monkeypatch):
    monkeypatch.delenv("DUOVIZ_PLACES", raising=False)
    assert number_of_places(chosen, cores) == expected
    if chosen:
        monkeypatch.setenv("DUOVIZ_PLACES", chosen)
        assert number_of_places(None, cores) == expected


@pytest.mark.parametrize("chosen", ["0", "3", "-1", "many", "1.5", "²", "9" * 5000])
def test_a_number_that_cannot_be_is_told(chosen):
    with pytest.raises(SettingsError, match="Places: enter auto or 1 to 2, for each needs a core, not"):
        number_of_places(chosen, 2)
