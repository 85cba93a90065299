"""The embedded pair, and the app that runs it in a process of its own."""

import pytest

from duoviz import runner
from duoviz.decoding.runtime import runtime
from duoviz.models.load import load_pair
from tests.app import free_port, served


@pytest.fixture(scope="session")
def embedded_pair():
    """The pair itself. It is converted and measured here, before any other process of these tests is there."""
    pair = load_pair()
    runner.prepare(pair, "duodecoding")
    yield pair
    runtime(pair).draft.close()


@pytest.fixture(scope="module")
def app_url(embedded_pair):
    """`python app.py`, as the README starts it."""
    with served(free_port(), {}) as (url, _):
        yield url
