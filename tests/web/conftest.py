"""Hardware whose pair is tiny."""

from dataclasses import replace
from functools import cache

import pytest

from duoviz.web.start import quickly

with quickly():
    import gradio  # noqa: F401

from duoviz.decoding import METHODS
from duoviz.web import app
from duoviz.web.lessons.course import read_course
from tests import tiny
from tests.thread_workers import hardware_with, nothing_to_fetch

read_once = cache(read_course)


@pytest.fixture(autouse=True, scope="module")
def lessons_read_once():
    """Most pages that are built here are not about the lessons."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "read_course", read_once)
        yield


@pytest.fixture
def make_hardware():
    """Hardware with these limits that loads its pairs with `load(name, progress)`, and fetches none from the hub."""
    made = []

    def make(*load, **options):
        made.append(hardware_with(*load, **options))
        made[-1].pool.start()
        return made[-1]

    with nothing_to_fetch():
        yield make
        for hardware in made:
            hardware.pool.close()


@pytest.fixture
def hardware(make_hardware):
    return make_hardware()


@pytest.fixture(scope="module")
def shared_hardware():
    """Hardware on which no test leaves anything behind."""
    with nothing_to_fetch():
        hardware = hardware_with()
        hardware.pool.start()
        yield hardware
        hardware.pool.close()


@pytest.fixture
def endless(monkeypatch):
    """The name of a method that writes nothing and ends when it is told to."""
    monkeypatch.setitem(METHODS, "endless", replace(METHODS["vanilla"], id="endless", drafter=tiny.endless))
    return "endless"
