"""What the page's modules are given in node: runs of a tiny pair, and what the browser knows of the page."""

import pytest

from duoviz.web.app import build_app
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from duoviz.web.share import ShareBar
from tests.web.front.runs import run_all


@pytest.fixture(scope="session")
def traces(tmp_path_factory):
    """A real run of each method by a tiny pair."""
    return run_all(tmp_path_factory.mktemp("front") / "store")


@pytest.fixture(scope="session")
def told():
    """What the browser knows of the page: its tabs with their fields, and on a Space its address."""
    hardware = Hardware(Limits())
    (bar,) = [block for block in build_app(hardware).blocks.values() if isinstance(block, ShareBar)]
    hardware.close()
    return bar.props["site"]


@pytest.fixture(scope="session")
def pages(told):
    return told["pages"]
