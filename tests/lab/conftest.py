"""A whole run of the Lab on a tiny pair."""

import pytest

from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.report import write_report
from duoviz.lab.results import opened
from tests.lab.asked import TOKENS, written
from tests.tiny import tiny_engine


@pytest.fixture(scope="session")
def questions(tmp_path_factory):
    """A file of questions, of which 7 is longer than the tiny model's context and 8 is empty."""
    return written(tmp_path_factory.mktemp("questions"))


@pytest.fixture(scope="session")
def finished(questions, tmp_path_factory):
    """The folder of a run of everything, with its report."""
    path = tmp_path_factory.mktemp("lab") / "tiny"
    plan = make_plan(quick=True, file=questions, max_new_tokens=TOKENS)
    with opened(path) as folder:
        progress = list(bench(tiny_engine(), plan, folder))
        write_report(path, folder.load())
    assert progress[-1].done == progress[-1].total
    return path
