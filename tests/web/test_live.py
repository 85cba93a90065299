"""What the Live tab makes of what the page or a client sends, and whose run is whose."""

import json
import weakref

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.web.app import build_app
from duoviz.web.front import methods_json
from duoviz.web.limits import Limits
from duoviz.web.pages.fields import settings_from
from duoviz.web.pages.live import VANILLA
from duoviz.web.visitors import Visitors
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Load
from tests.toy import TOY
from tests.until import wait_until
from tests.web.visits import SENT, events_in, events_of, functions, start, visitor


def test_the_page_sends_numbers_as_floats_and_text():
    expected = {
        "max_new_tokens": 12, "top_k": 40, "seed": 7, "temperature": 0.7, "top_p": 0.9, "sequences": 3, "budget": 7,
        "lookup_ngram": 4, "lookup_occurrence": "latest", "rest_tokens": 9, "lookahead_window": 3,
    }  # fmt: skip
    floats = {name: float(value) for name, value in expected.items() if isinstance(value, int)}
    settings = settings_from(Limits(), **SENT | expected | floats | {"sequences": "3", "budget": " 7"})
    assert settings == Settings(**expected)
    assert all(isinstance(getattr(settings, name), int) for name in floats)


def test_no_visitor_of_a_space_names_a_folder():
    with pytest.raises(UserError, match="On this Space REST uses the shipped datastore"):
        settings_from(Limits(on_space=True), **SENT | {"rest_datastore": "/etc"})
    assert settings_from(Limits(), **SENT | {"rest_datastore": "mine"}).rest_datastore == "mine"


@pytest.fixture(scope="module")
def page(shared_hardware):
    """The functions of a page on which nothing stays behind."""
    return functions(shared_hardware)


def test_a_methods_own_settings_are_shown_with_it(page):
    own = {name for method in METHODS.values() for name in method.settings} - {"budget_offset"}
    names = [name for name in Settings.__dataclass_fields__ if name in own]
    for name, method in METHODS.items():
        told, *updates = page["show"](name)
        shown = {name for name, update in zip(names, updates, strict=True) if update["visible"]}
        assert told["info"] == method.about and shown == {*method.settings} & own != own


def asked(**changes):
    return {"prompt": "hello", "method": "duodecoding", "pair": "embedded", "raw": False} | SENT | changes


def test_each_visitor_ends_its_own_run_by_stop_or_by_leaving(hardware, endless):
    page = functions(hardware)
    streams = {name: page["watch"](visitor(name), **asked(method=endless)) for name in ("ann", "ben", "cat", "dan")}
    for stream in streams.values():
        next(stream)
    ann, ben, cat, dan = hardware.queue.jobs
    page["stop"](visitor("ben"))
    assert events_in(streams["ben"])[-1]["end"]["stopped"] == "stopped"
    assert hardware.queue.jobs == [ann, cat, dan] and not any(job.stop.is_set() for job in (ann, cat, dan))
    page["stop"](visitor("nobody"))
    # A tab that is closed frees its place, and nothing is kept of what it asked for.
    left = weakref.ref(cat)
    streams["cat"].close()
    del cat, stream, streams["cat"]
    wait_until(lambda: left() is None)
    assert hardware.queue.jobs == [ann, dan]
    page["stop"](visitor("ann"))
    assert events_in(streams["ann"])[-1]["end"]["stopped"] == "stopped"
    wait_until(lambda: dan.begun)
    streams["dan"].close()
    assert not hardware.queue


def test_the_page_begins_with_the_pair_that_its_owner_chose(shared_hardware, monkeypatch):
    monkeypatch.setenv("DUOVIZ_PAIR", "embedded-as-360m")
    blocks = build_app(shared_hardware).blocks.values()
    assert {block.value for block in blocks if getattr(block, "label", "") == "Models"} == {"embedded-as-360m"}
    (about,) = (block.value for block in blocks if block.elem_id == "small-target")
    assert about.startswith("Each pass takes what a larger model's takes")


def test_a_method_that_a_test_adds_is_on_the_page(hardware, monkeypatch):
    monkeypatch.setitem(METHODS, TOY.id, TOY)
    assert events_of(hardware, start(hardware, method=TOY.id))[-1]["type"] == "end"
    told, *updates = functions(hardware)["show"](TOY.id)
    assert told["info"] == TOY.about and sum(each["visible"] for each in updates) == len(TOY.settings)
    assert json.loads(methods_json())[TOY.id]["proposers"][0]["origin"] == "said again"


def told_of_alone(values):
    return [event["last"] for event in events_in(values) if event["type"] == "alone"]


def test_vanilla_runs_after_a_run_and_is_told_as_that_runs_own(hardware, monkeypatch):
    watch = functions(hardware)["watch"]
    values = list(watch(visitor("ann"), **asked(max_new_tokens=20)))
    assert len({json.loads(value)["run"] for value in values}) == 1
    assert [json.loads(value)["seq"] for value in values] == list(range(len(values)))
    *_, last = told_of_alone(values)
    assert (last["metrics"]["tau"], last["metrics"]["new_tokens"]) == (1, 20)
    # With what it wrote, step by step.
    run = [event for event in events_in(values) if event["type"] == "alone"][-1]["run"]
    assert run["header"]["method"] == "vanilla" and len(run["iterations"]) == 20 and run["end"] == last["end"]
    # Nothing compares vanilla with itself, and a lent GPU's minutes are the visitor's.
    assert told_of_alone(watch(visitor("ann"), **asked(method="vanilla"))) == []
    monkeypatch.setenv("SPACES_ZERO_GPU", "1")
    assert told_of_alone(watch(visitor("ann"), **asked())) == []


def test_vanilla_gives_way_to_whoever_waits(hardware, endless, monkeypatch):
    monkeypatch.setitem(VANILLA, "method", endless)
    page = functions(hardware)
    ann = page["watch"](visitor("ann"), **asked())
    while not told_of_alone([next(ann)]):
        pass
    ben = page["watch"](visitor("ben"), **asked(method="vanilla"))
    next(ben)
    assert told_of_alone(ann)[-1]["end"]["stopped"] == "stopped"
    assert events_in(ben)[-1]["end"]["stopped"] == "length"
    # And it does not begin where somebody does.
    ann = page["watch"](visitor("ann"), **asked())
    next(ann)
    ben = page["watch"](visitor("ben"), **asked(method=endless))
    next(ben)
    assert told_of_alone(ann) == []
    ben.close()


@pytest.mark.parametrize(
    "change", [{"end": {"stopped": "length", "message": "This machine was busy."}}, {"metrics": {"wall": 31.0}}]
)
def test_vanilla_does_not_run_after_a_disturbed_or_a_long_run(shared_hardware, change):
    visitors, job = Visitors(shared_hardware), Job(task=Load(pair="embedded"))
    job.ended = {"end": {"stopped": "length"}, "metrics": {"wall": 3.0}}
    assert visitors.is_idle_after(job)
    job.ended |= change
    assert not visitors.is_idle_after(job)
