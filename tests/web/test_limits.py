"""What a Space allows and anyone's own machine does; and what is told of a variable that cannot be kept."""

import pytest

from duoviz.decoding.settings import SettingsError
from duoviz.errors import UserError
from duoviz.web.app import build_app
from duoviz.web.limits import BOUNDS, limits_here
from duoviz.web.start import started
from duoviz.workers.request_queue import Bounds
from tests.web.visits import start


@pytest.fixture(params=["", "someone/duoviz"], ids=["own machine", "Space"])
def space(request, monkeypatch):
    monkeypatch.setenv("SPACE_ID", request.param)
    return bool(request.param)


def test_pairs_tokens_and_time(space):
    limits = limits_here()
    limits.check_pair("embedded")
    limits.check_tokens(256)
    assert limits.run_seconds == (60 if space else 600)
    with pytest.raises(UserError, match="no pair named 'nobody'"):
        limits.check_pair("nobody")
    with pytest.raises(UserError, match="no pair named" if space else "is a target without a draft"):
        limits.check_pair("them/model")
    if space:
        with pytest.raises(UserError):
            limits.check_pair("big + small")
        with pytest.raises(SettingsError, match="On this Space a run may have at most 256 new tokens: enter fewer"):
            limits.check_tokens(257.0)
    else:
        limits.check_pair("big + small")
        # What is too much is for Settings to say.
        limits.check_tokens(5000)


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


def test_the_bounds_of_the_queue_can_be_set(monkeypatch):
    for name, text in zip(BOUNDS, (" 9 ", "", "4"), strict=True):
        monkeypatch.setenv(name, text)
    assert limits_here().bounds == Bounds(length=9, address=4)


@pytest.mark.parametrize("text", ["0", "many", "-1", "1e3", "inf", "9" * 5000])
@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_that_is_no_number_is_told(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError, match=f"{name} must be a whole number from 1 on, not '{text[:10]}"):
        limits_here()


def test_a_first_pair_that_there_is_not_is_told(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/duoviz")
    monkeypatch.setenv("DUOVIZ_PAIR", "big + small")
    with pytest.raises(UserError, match="There is no pair named 'big [+] small' on this Space"):
        limits_here()


def full(**options):
    raise OSError(28, "No space left on device")


def test_a_cache_that_cannot_be_written_to_is_told_but_for_one_that_is_full(tmp_path, monkeypatch):
    file, cache = tmp_path / "file", tmp_path / "cache"
    file.write_text("")
    monkeypatch.setenv("DUOVIZ_CACHE", f"{file}/cache")
    with pytest.raises(UserError, match=r"file/cache cannot be written to \(.*\): set DUOVIZ_CACHE to another folder"):
        limits_here()
    monkeypatch.setenv("DUOVIZ_CACHE", str(cache))
    limits_here()
    monkeypatch.setattr("duoviz.web.limits.tempfile.TemporaryFile", full)
    with pytest.raises(UserError, match="No space left on device"):
        limits_here()
    (cache / "model").write_text("")
    limits_here()


def test_the_log_says_it(make_hardware):
    lines = started(make_hardware(), "embedded")
    assert [line.split()[0] for line in lines] == ["Pair:", "Places:", "Limits:"]
