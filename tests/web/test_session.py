"""One place on the hardware: order, stop, failures."""

import json

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.pairs import PromptError, UnknownPair
from duoviz.web import session
from duoviz.web.pages.live import settings_from
from duoviz.web.session import Hardware
from duoviz.web.visualizer import batch
from tests.conftest import tiny_pair


@pytest.fixture
def hardware(monkeypatch):
    monkeypatch.setattr(session, "load_pair", lambda name, progress: tiny_pair())
    hardware = Hardware()
    yield hardware
    hardware.close()


def events_of(run):
    return [event for events in run.batches(lambda: "") for event in events]


def start(hardware, **changes):
    arguments = {
        "pair": "embedded",
        "method": "duodecoding",
        "prompt": "hello",
        "settings": Settings(max_new_tokens=30),
    }
    return hardware.start(**(arguments | changes), raw=False)


def test_a_run_in_order(hardware):
    run = start(hardware)
    events = events_of(run)
    assert [event["type"] for event in events][0] == "header" and events[-1]["type"] == "end"
    shown = [event["iteration"]["index"] for event in events if event["type"] == "iteration"]
    assert shown == list(range(len(shown)))
    assert events[-1]["metrics"] == run.summary["metrics"] and run.summary["metrics"]["new_tokens"] == 30


def test_runs_take_turns_and_keep_apart(hardware):
    runs = [start(hardware, prompt=text) for text in ("one", "two", "three")]
    texts = [events_of(run)[-1]["end"]["text"] for run in runs]
    assert texts == [events_of(start(hardware, prompt=text))[-1]["end"]["text"] for text in ("one", "two", "three")]
    assert len(set(texts)) == 3


def test_stopping_keeps_what_was_written(hardware):
    run = start(hardware, settings=Settings(max_new_tokens=200), method="vanilla")
    seen = 0
    for events in run.batches(lambda: ""):
        seen += sum(event["type"] == "iteration" for event in events)
        if seen >= 3:
            run.stop.set()
    assert run.summary["stopped"] == "stopped"
    assert 3 <= seen == run.summary["metrics"]["target_forwards"] < 200


@pytest.mark.parametrize(
    "changes, error",
    [({"pair": "nobody"}, UnknownPair), ({"method": "magic"}, SettingsError), ({"prompt": "  "}, PromptError)],
)
def test_mistakes_are_told_before_the_run(hardware, changes, error):
    with pytest.raises(error):
        start(hardware, **changes)


def test_a_prompt_that_is_too_long_is_told_in_the_run(hardware):
    run = start(hardware, prompt="x" * 300)
    assert "too long" in events_of(run)[-1]["message"] and run.summary is None


def test_a_failure_of_our_own_ends_the_run_and_the_next_one_works(hardware, monkeypatch):
    def broken(pair, prompt_ids, settings):
        raise RuntimeError("a defect")

    monkeypatch.setitem(METHODS, "vanilla", broken)
    run = start(hardware, method="vanilla")
    assert events_of(run)[-1]["type"] == "error" and "a defect" not in run.error
    assert events_of(start(hardware))[-1]["type"] == "end"


def test_the_page_sends_numbers_as_floats_and_text():
    settings = settings_from(12.0, "3", " 7", "paper", "all")
    assert settings == Settings(max_new_tokens=12, sequences=3, budget=7, draft_mode="paper")
    with pytest.raises(SettingsError):
        settings_from(None, "dynamic", "auto", "batched", "all")


def test_batches_of_a_run_are_never_equal():
    assert batch("run", 0, []) != batch("run", 1, [])
    assert json.loads(batch("run", 2, [{"type": "status", "text": "é"}]))["events"][0]["text"] == "é"
