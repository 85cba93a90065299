"""A datastore that fits the tiny target."""

import pytest

from tests.decoding.stores import build, half_known


@pytest.fixture(scope="session")
def sequences():
    return half_known([5, 9, 3], [2] * 12, [*range(2, 30)], [7])


@pytest.fixture(scope="session")
def store(sequences, tmp_path_factory):
    """The name of a datastore of these sequences."""
    return str(build(sequences, tmp_path_factory.mktemp("rest") / "store"))
