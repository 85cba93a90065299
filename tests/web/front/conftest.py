"""What the page's modules are given in node."""

import pytest

from duoviz.web.app import build_app
from tests.thread_workers import hardware_with


@pytest.fixture(scope="session")
def told():
    """What the browser knows of the page: its tabs with their fields, and on a Space its address."""
    (bar,) = [block for block in build_app(hardware_with()).blocks.values() if block.elem_id == "share"]
    return bar.props["site"]
