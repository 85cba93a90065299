"""A datastore that fits the tiny target."""

import pytest

from duoviz.decoding.settings import Settings
from tests.decoding.proposals import tokens
from tests.decoding.stores import build, random_sequences
from tests.tiny import VOCABULARY, run, tiny_engine


@pytest.fixture(scope="session")
def sequences():
    """What the tiny target writes, sampled, and other texts: some proposals are accepted, and some are not."""
    engine = tiny_engine()
    ways = [Settings(max_new_tokens=80, temperature=temperature, seed=1) for temperature in (0, 0.6, 0.8, 1.2)]
    prompts = [5, 9, 3], [2] * 12, [*range(2, 30)], [7]
    written = [prompt + tokens(run(engine, "vanilla", prompt, way)) for prompt in prompts for way in ways]
    return written + random_sequences(0, tokens=VOCABULARY)


@pytest.fixture(scope="session")
def store(sequences, tmp_path_factory):
    """The name of a datastore of these sequences."""
    return str(build(sequences, tmp_path_factory.mktemp("rest") / "store"))
