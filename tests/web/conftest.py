"""Hardware whose pair is tiny."""

import time
from dataclasses import replace
from functools import cache

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.forward import Stopped
from duoviz.web import session
from duoviz.web.lessons.lesson import read_course
from duoviz.web.limits import Limits
from duoviz.web.pages import learn
from duoviz.web.session import Hardware
from tests.tiny import tiny_engine

read_once = cache(read_course)


@pytest.fixture(autouse=True)
def lessons_read_once(monkeypatch):
    """Most pages that are built here are not about the lessons."""
    monkeypatch.setattr(learn, "read_course", read_once)


@pytest.fixture
def make_hardware(monkeypatch):
    """Hardware with these limits that loads its pairs with `load(name, progress)`, and fetches none from the hub."""
    made = []
    monkeypatch.setattr(session, "check_room", lambda name, spare: None)
    monkeypatch.setattr(session, "fetch_pair", lambda name, progress: ())

    def make(load=lambda name, progress: tiny_engine(), **limits):
        monkeypatch.setattr(session, "load_engine", lambda name, progress, sources, *, draft: load(name, progress))
        made.append(Hardware(Limits(**limits)))
        return made[-1]

    yield make
    for hardware in made:
        hardware.close()


@pytest.fixture
def hardware(make_hardware):
    return make_hardware()


@pytest.fixture
def endless(monkeypatch):
    """The name of a method that writes nothing and ends when it is told to."""

    def forever(plan):
        while not plan.stopped():
            time.sleep(0.002)
        raise Stopped

    monkeypatch.setitem(METHODS, "endless", replace(METHODS["vanilla"], id="endless", drafter=forever))
    return "endless"
