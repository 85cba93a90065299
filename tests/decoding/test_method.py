"""What the records of the methods say."""

import json

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.method import DESCRIBED


@pytest.mark.parametrize("id, method", METHODS.items())
def test_a_record_is_whole(id, method):
    assert method.id == id and method.about.endswith(".")
    # What proposes and takes turns has words for what it proposed; what works in parallel is told of otherwise.
    assert bool(method.verified and method.nothing and method.caption) == (
        bool(method.proposers) and not method.parallel
    )
    assert ("acceptance" in method.numbers) == bool(method.proposers)
    described = method.described()
    assert json.loads(json.dumps(described)) == described and tuple(described) == DESCRIBED


def test_records_are_told_apart():
    for name in ("id", "title", "colour", "mark"):
        assert len({getattr(method, name) for method in METHODS.values()}) == len(METHODS)
