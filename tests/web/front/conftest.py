"""What the page's modules are given in node: runs of a tiny pair, and what the browser knows of the page."""

import pytest

from duoviz.web.app import build_app
from tests.thread_workers import hardware_with
from tests.web.front.runs import run_all


@pytest.fixture(scope="session")
def traces(tmp_path_factory):
    """A real run of each method by a tiny pair."""
    return run_all(tmp_path_factory.mktemp("front") / "store")


@pytest.fixture(scope="session")
def told():
    """What the browser knows of the page: its tabs with their fields, and on a Space its address."""
    (bar,) = [block for block in build_app(hardware_with()).blocks.values() if block.elem_id == "share"]
    return bar.props["site"]
