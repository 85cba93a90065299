"""What each test needs, told by what it uses: the embedded pair, a browser, or nothing (unit)."""

import gc
import os
from pathlib import Path

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Test processes run side by side: none looks for a port among another's, nor at a Space's.
os.environ["GRADIO_SERVER_PORT"] = str(7900 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]))

import pytest

import duoviz  # noqa: F401  before torch, whose threads read once how they are to wait
from tests.scheduling import Stretches

TESTS = Path(__file__).parent
# What computes is tested quickly; what serves imports Gradio, and what trains takes its time.
NOT_QUICK = ("e2e", "web", "training", "benchmarks", "release")
# A test that is given one of these fixtures, or one that is made of it, needs what it stands for.
NEEDS = {"embedded": "embedded_engine", "browser": "browser", "other_browser": "visitor"}


def pytest_ignore_collect(collection_path, config):
    """The quick part does not even import the rest."""
    if config.option.markexpr == "quick" and collection_path.name in NOT_QUICK and collection_path.parent == TESTS:
        return True


def pytest_collection_modifyitems(items):
    for item in items:
        needs = [need for need, fixture in NEEDS.items() if fixture in item.fixturenames] or ["unit"]
        folder = item.path.relative_to(TESTS).parts[0]
        if needs == ["unit"] and folder not in NOT_QUICK and not item.get_closest_marker("thorough"):
            needs.append("quick")
        for need in needs:
            item.add_marker(need)
    # What takes longest begins first, so that all processes end at about the same time.
    items.sort(key=lambda item: ("embedded" not in item.keywords, "e2e" not in item.nodeid, "quick" in item.keywords))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Stretches(config, log)


@pytest.fixture(autouse=True)
def out_of_reach(request, tmp_path_factory):
    """The embedded pair is within the reach of those tests alone that are marked so."""
    with pytest.MonkeyPatch.context() as patch:
        if "embedded_engine" not in request.fixturenames:
            patch.setenv("DUOVIZ_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
            patch.setenv("PIP_NO_INDEX", "1")
        yield


@pytest.fixture(autouse=True, scope="module")
def kept():
    """What earlier modules have made is not searched for garbage again: places that let a pair go search often."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def undisturbed():
    """How far rounds are apart is the machine's doing, not the tests'; and the Lab's map plays DuoTree for a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duoviz.comparison.LARGEST_SPREAD", float("inf"))
        patch.setattr("duoviz.lab.prediction.PLAYED", 3)
        yield


@pytest.fixture
def engine():
    from tests.tiny import tiny_engine

    return tiny_engine()
