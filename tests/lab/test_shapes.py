"""Counts of an answer that contradict each other."""

from dataclasses import asdict

import pytest

from duoviz.decoding.theory import Acceptance
from duoviz.lab.shapes import COUNTED


@pytest.mark.parametrize("part", ["accepted", "pending_accepted", "hits", "sequences_taken"])
def test_a_part_is_no_more_than_its_whole(part):
    counts = dict.fromkeys(asdict(Acceptance()), 1)
    assert COUNTED(counts) is None
    assert COUNTED(counts | {part: 2})


def test_a_sequence_that_was_taken_had_a_token():
    assert COUNTED(dict.fromkeys(asdict(Acceptance()), 1) | {"taken": 0})
