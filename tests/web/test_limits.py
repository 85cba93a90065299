"""What a Space allows and anyone's own machine does; and that a variable that cannot be kept gives way."""

import os
from unittest.mock import Mock

import pytest

from duoviz.errors import UserError
from duoviz.models.cache import cache_folder
from duoviz.models.registry import first_pair
from duoviz.web.app import build_app
from duoviz.web.limits import BOUNDS, limits_here, make_way
from duoviz.web.start import started
from duoviz.workers import local
from duoviz.workers.request_queue import Bounds
from tests.web.visits import start


@pytest.fixture(params=["", "someone/duoviz"], ids=["own machine", "Space"])
def space(request, monkeypatch):
    monkeypatch.setenv("SPACE_ID", request.param)
    return bool(request.param)


def test_pairs_tokens_and_time(space):
    limits = limits_here()
    limits.check_pair("embedded")
    limits.check_settings(256)
    assert limits.run_seconds == (60 if space else 600)
    with pytest.raises(UserError, match="no pair named 'nobody'"):
        limits.check_pair("nobody")
    with pytest.raises(UserError, match="no pair named" if space else "is a target without a draft"):
        limits.check_pair("them/model")
    if space:
        with pytest.raises(UserError):
            limits.check_pair("big + small")
        with pytest.raises(UserError, match="On this Space a run may have at most 256 new tokens: enter fewer"):
            limits.check_settings(257.0)
    else:
        limits.check_pair("big + small")
        # What is too much is for Settings to say.
        limits.check_settings(5000)


def test_the_page_tells_a_spaces_limits_in_one_line(space, make_hardware):
    hardware = make_hardware(**vars(limits_here()))
    page = build_app(hardware)
    shown = [block.value for block in page.blocks.values() if getattr(block, "elem_id", None) == "limits"]
    told = "On this Space a prompt may have 1,024 tokens, and a run may write 256 and take 60 seconds."
    assert shown == ([told] if space else [])
    models = [block for block in page.blocks.values() if getattr(block, "label", None) == "Models"]
    assert {field.allow_custom_value for field in models} == {not space}
    if space:
        with pytest.raises(UserError, match="no pair named 'big [+] small' on this Space"):
            start(hardware, pair="big + small")


NAMES = (*BOUNDS, "DUOVIZ_CACHE", "DUOVIZ_PAIR", "DUOVIZ_PLACES")


@pytest.fixture
def given(monkeypatch):
    """Sets these variables and no others, on two cores."""
    monkeypatch.setattr("duoviz.web.limits.available_cores", lambda: [0, 1])
    monkeypatch.setattr(local, "available_cores", lambda: [0, 1])

    def give(**variables):
        for name in NAMES:
            monkeypatch.setenv(name, variables.get(name, ""))
        return make_way()

    return give


@pytest.mark.parametrize("chosen, places", [("3", 2), ("2", 2), ("many", 1), ("0", 1), ("", 1), (" auto ", 1)])
def test_as_many_places_as_can_be(given, chosen, places):
    notes = given(DUOVIZ_PLACES=chosen)
    assert len(local.local_slots()) == places
    told = f"Workers: enter auto or 1 to 2, for each needs a core, not {chosen!r}."
    instead = {"3": "2", "many": "the default", "0": "the default"}.get(chosen)
    assert notes == ([f"DUOVIZ_PLACES cannot be kept, and {instead} is used. {told}"] if instead else [])


@pytest.mark.parametrize("text", ["0", "many", "9" * 5000])
def test_a_bound_that_is_no_number_is_the_usual_one(given, text):
    notes = given(**dict.fromkeys(BOUNDS, text))
    for name, note in zip(BOUNDS, notes, strict=True):
        told = f"{name} must be a whole number from 1 on, not '{text[:10]}"
        assert note.startswith(f"{name} cannot be kept, and the default is used. {told}")
    assert limits_here().bounds == Bounds()


def test_a_pair_that_there_is_not(given, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/duoviz")
    (note,) = given(DUOVIZ_PAIR="big + small")
    assert "There is no pair named 'big + small' on this Space" in note and first_pair() == "embedded"
    assert given(DUOVIZ_PAIR="smollm2-1.7b") == [] and first_pair() == "smollm2-1.7b"


def test_a_cache_that_cannot_be_written_to(given, tmp_path, monkeypatch):
    usual = tmp_path / "file"
    usual.write_text("")
    (note,) = given(DUOVIZ_CACHE=f"{usual}/cache")
    assert "file/cache cannot be written to (" in note and "DUOVIZ_CACHE" not in os.environ
    assert given(DUOVIZ_CACHE=f"{tmp_path}/cache") == [] and cache_folder() == tmp_path / "cache"
    # It needs no more than to be read once it is filled.
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("duoviz.web.limits.tempfile.TemporaryFile", full)
    assert len(given(DUOVIZ_CACHE=f"{tmp_path}/cache")) == 1
    (tmp_path / "cache/model").write_text("")
    assert given(DUOVIZ_CACHE=f"{tmp_path}/cache") == []


def test_the_log_and_about_say_it(make_hardware):
    hardware = make_hardware()
    hardware.notes = ["DUOVIZ_LINE cannot be kept."]
    about = [block.value for block in build_app(hardware).blocks.values() if "changed-variable" in block.elem_classes]
    *lines, last = started(hardware, "embedded")
    assert about == [last] == hardware.notes and [line.split()[0] for line in lines] == ["Pair:", "Workers:", "Limits:"]
