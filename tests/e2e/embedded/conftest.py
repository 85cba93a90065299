"""The embedded pair, and the app that runs it in a process of its own."""

import pytest

from duoviz import runner
from duoviz.decoding.engine import load_engine
from tests.app import free_port, served


@pytest.fixture(scope="session")
def embedded_engine():
    """The engine itself. Its pair is converted and measured here, before any other process of these tests is there."""
    with load_engine() as engine:
        runner.prepare(engine, "duodecoding")
        yield engine


@pytest.fixture(scope="module")
def app_url(embedded_engine):
    """`python app.py`, as the README starts it."""
    with served(free_port(), {}) as (url, _):
        yield url
