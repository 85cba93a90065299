"""A variable that cannot be kept gives way: the page starts with what can, and says so."""

import os

import pytest

from duoviz.models.cache import cache_folder
from duoviz.models.registry import first_pair
from duoviz.web.app import build_app
from duoviz.web.limits import BOUNDS, limits_here, make_way
from duoviz.web.start import started
from duoviz.workers import local
from duoviz.workers.request_queue import Bounds

NAMES = (*BOUNDS, "DUOVIZ_CACHE", "DUOVIZ_PAIR", "DUOVIZ_PLACES")


@pytest.fixture
def given(monkeypatch):
    """Sets these variables and no others, on two cores."""
    monkeypatch.setattr("duoviz.web.limits.available_cores", lambda: [0, 1])
    monkeypatch.setattr(local, "available_cores", lambda: [0, 1])

    def give(**variables):
        for name in NAMES:
            monkeypatch.setenv(name, variables.get(name, ""))
        return make_way(limits_here)

    return give


@pytest.mark.parametrize("chosen, places", [("3", 2), ("2", 2), ("many", 1), ("0", 1), ("", 1), (" auto ", 1)])
def test_as_many_places_as_can_be(given, chosen, places):
    notes = given(DUOVIZ_PLACES=chosen)
    assert len(local.local_slots()) == places
    told = f"Places: enter auto or 1 to 2, for each needs a core, not {chosen!r}."
    instead = {"3": "2", "many": "the default", "0": "the default"}.get(chosen)
    assert notes == ([f"DUOVIZ_PLACES cannot be kept, and {instead} is used. {told}"] if instead else [])


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_that_is_no_number_is_the_usual_one(given, name):
    (note,) = given(**{name: "many"})
    assert note.startswith(f"{name} cannot be kept, and the default is used. {name} must be a whole number from 1 on")
    assert limits_here().bounds == Bounds()


def test_a_pair_that_there_is_not(given, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/duoviz")
    (note,) = given(DUOVIZ_PAIR="big + small")
    assert "There is no pair named 'big + small' on this Space" in note and first_pair() == "embedded"
    assert given(DUOVIZ_PAIR="smollm2-1.7b") == [] and first_pair() == "smollm2-1.7b"


def full(**options):
    raise OSError(28, "No space left on device")


def test_a_cache_that_cannot_be_written_to(given, tmp_path, monkeypatch):
    usual = tmp_path / "file"
    usual.write_text("")
    (note,) = given(DUOVIZ_CACHE=f"{usual}/cache")
    assert "file/cache cannot be written to (" in note and "DUOVIZ_CACHE" not in os.environ
    assert given(DUOVIZ_CACHE=f"{tmp_path}/cache") == [] and cache_folder() == tmp_path / "cache"
    # It needs no more than to be read once it is filled.
    monkeypatch.setattr("duoviz.web.limits.tempfile.TemporaryFile", full)
    assert len(given(DUOVIZ_CACHE=f"{tmp_path}/cache")) == 1
    (tmp_path / "cache/model").write_text("")
    assert given(DUOVIZ_CACHE=f"{tmp_path}/cache") == []


def test_the_log_and_about_say_it(make_hardware):
    hardware = make_hardware()
    hardware.notes = ["DUOVIZ_LINE cannot be kept."]
    about = [block.value for block in build_app(hardware).blocks.values() if "changed-variable" in block.elem_classes]
    *lines, last = started(hardware, "embedded")
    assert about == [last] == hardware.notes and [line.split()[0] for line in lines] == ["Pair:", "Places:", "Limits:"]
