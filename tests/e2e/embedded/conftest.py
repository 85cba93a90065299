"""The embedded pair, and the app that runs it in a process of its own."""

import sys

import pytest

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.models.cache import cache_folder
from tests.e2e.embedded.as_a_space import read_only_copy, space_served


@pytest.fixture(scope="session")
def embedded_engine():
    """The engine itself. Its pair is converted and measured here, before any other process of these tests is there."""
    with load_engine() as engine:
        runner.prepare(engine, "duodecoding")
        yield engine


@pytest.fixture(scope="package")
def space(embedded_engine, tmp_path_factory):
    """`python app.py` as a Space runs it: the address of the page, and the file of what it prints."""
    folder = tmp_path_factory.mktemp("space")
    source, log = read_only_copy(folder / "source"), folder / "log"
    variables = {"DUOVIZ_CACHE": str(cache_folder()), "DUOVIZ_LINE": "many"}
    with (
        log.open("w") as output,
        space_served(source, folder / "home", sys.executable, variables, stdout=output, stderr=output) as (url, _),
    ):
        yield url, log
