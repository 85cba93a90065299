"""How far a run of the Lab is, in words."""

import pytest

from duoviz.lab.progress import Progress


@pytest.mark.parametrize(
    "progress, words",
    [
        ((0, 0, None), "Preparing"),
        ((1, 9, None), "1 of 9 answers"),
        ((2, 9, 20.0), "2 of 9 answers, less than a minute left"),
        ((3, 9, 130.0), "3 of 9 answers, about 2 min left"),
        ((9, 9, 0.0), "9 of 9 answers"),
    ],
)
def test_how_far_it_is_in_words(progress, words):
    assert Progress(*progress, "an answer").words == words
