"""One place on the hardware: order, stop, time, failures."""

import threading
import time
import weakref
from itertools import chain
from types import SimpleNamespace

import pytest

from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.runs import text_of
from duoviz.web.session import runs_ahead
from duoviz.workers import worker
from duoviz.workers.tasks import Assignment, Run
from tests.thread_workers import ThreadWorker, worker_of
from tests.tiny import change_pair, draft_with, held_engine, tiny_engine
from tests.until import wait_until
from tests.web.visits import events_of, start

ELSEWHERE = "them/model + them/draft"


def told_place(number):
    return [{"type": "status", "text": runs_ahead(number)}]


def last(hardware, **changes):
    """The last event of a run."""
    return events_of(hardware, start(hardware, **changes))[-1]


def ended_before_it_began(events):
    return events[-1]["type"] == "end" and events[-1]["end"] == {"stopped": "stopped", "wall": 0.0, "text": ""}


def test_waiting_visitors_are_told_their_place_as_it_changes(hardware, endless):
    runs = [start(hardware, method=endless) for _ in range(3)]
    wait_until(lambda: runs[0].begun)
    streams = [hardware.batches(run) for run in runs]
    assert next(streams[1]) == told_place(1) and next(streams[2]) == told_place(2)
    # Nothing is told twice, and a step ends though nothing comes, so that a closed tab is noticed.
    assert next(streams[2]) == [] and hardware.queue.jobs == runs
    runs[0].stop.set()
    events_of(hardware, runs[0])
    assert next(streams[2]) == told_place(1)
    # The second has begun: the place it was told is taken back.
    assert {"type": "status", "text": ""} in next(streams[1])


def test_stop_while_waiting_ends_the_run_at_once_and_it_never_runs(make_hardware, endless):
    loads = []
    hardware = make_hardware(lambda name, progress: loads.append(name) or tiny_engine())
    first, second = start(hardware, method=endless), start(hardware, pair="big + small")
    stream = hardware.batches(second)
    wait_until(lambda: next(stream) == told_place(1))
    second.stop.set()
    events = list(chain(*stream))
    assert ended_before_it_began(events) and len(events) == 1
    assert not first.future.done() and not first.stop.is_set()
    first.stop.set()
    assert last(hardware)["type"] == "end"
    assert not second.begun and not second.ended and loads == ["embedded"]


@pytest.mark.parametrize(
    "act, stopped, message",
    [
        (lambda run: run.stop.set(), "stopped", None),
        (lambda run: setattr(run, "deadline", 0.0), "time", "Stopped: a run may take 90 seconds here."),
    ],
    ids=["its visitor stops it", "its time is over"],
)
def test_a_run_that_is_ended_keeps_what_was_written(make_hardware, act, stopped, message):
    hardware = make_hardware(
        lambda name, progress: held_engine(lambda: worker_of(hardware).cancelled(), after=3), run_seconds=90
    )
    run = start(hardware, settings=Settings(max_new_tokens=4000), method="vanilla")
    iterations = []
    for batch in hardware.batches(run):
        iterations += [event["iteration"] for event in batch if event["type"] == "iteration"]
        if len(iterations) >= 3:
            act(run)
    end = batch[-1]["end"]
    assert end["stopped"] == stopped and end.get("message") == message
    # It was in its fourth forward.
    assert len(iterations) == run.ended["metrics"]["target_forwards"] == 4
    assert text_of(iterations) == end["text"] != ""


def test_waiting_does_not_count_towards_the_time(make_hardware, endless):
    hardware = make_hardware(run_seconds=0.3)
    first, second = start(hardware, method=endless), start(hardware, method=endless)
    wait_until(lambda: second.begun)
    # The first had all of its time, and then the second begins to have its own.
    assert second.deadline >= first.deadline + 0.3


def test_what_goes_wrong_ends_the_run_with_a_sentence_and_the_next_one_works(hardware, monkeypatch):
    def broken(plan):
        raise RuntimeError("a defect")

    draft_with(monkeypatch, "vanilla", broken)
    for changes, sentence in (({"method": "vanilla"}, "Internal error"), ({"prompt": "x" * 300}, "too long")):
        error = last(hardware, **changes)
        assert error["type"] == "error" and sentence in error["message"]
    assert last(hardware)["type"] == "end"


def test_another_pair_is_loaded_only_when_the_first_is_gone(make_hardware):
    targets, closed, gone = [], [], []

    def load(name, progress):
        gone.append((list(closed), [target() for target in targets]))
        engine = tiny_engine()
        targets.append(weakref.ref(engine.pair.target))
        engine.draft_beside.close = lambda: closed.append(name)
        return engine

    hardware = make_hardware(load)
    for pair in ("embedded", "embedded", "big + small"):
        assert last(hardware, pair=pair)["type"] == "end"
    assert gone == [([], []), (["embedded"], [None])]


def test_closing_the_hardware_ends_all_runs(hardware, endless):
    runs = [start(hardware, method=endless) for _ in range(3)]
    wait_until(lambda: runs[0].begun)
    hardware.pool.close()
    assert [events_of(hardware, run)[-1]["end"]["stopped"] for run in runs] == ["stopped"] * 3


def test_a_worker_whose_server_is_gone_ends_its_run(endless):
    worker = ThreadWorker(lambda name, progress, *, draft: tiny_engine())
    run = Run(pair="embedded", method=endless, prompt="hello", settings=Settings(), raw=False)
    worker.send(Assignment(1, run))
    wait_until(lambda: worker.receive(0.1) == {"type": "begun"})
    worker.pipe.close()
    worker.thread.join(60)
    assert not worker.thread.is_alive()


@pytest.fixture
def fetching(monkeypatch):
    """What the fetcher does, for a test to change: `check(name, spare)` of a pair's size, `fetch(name, progress)`."""
    stand_in = SimpleNamespace(check=lambda name, spare: None, fetch=lambda name, progress: ())
    monkeypatch.setattr(worker, "check_room", lambda name, spare: stand_in.check(name, spare))
    monkeypatch.setattr(worker, "fetch_pair", lambda name, progress: stand_in.fetch(name, progress))
    return stand_in


def test_others_run_with_the_loaded_pair_while_models_are_fetched(make_hardware, fetching):
    loads, let_go = [], threading.Event()

    def fetch(name, progress):
        progress(0.25, "Downloading them/model (0.5 of 2.0 GB)")
        assert let_go.wait(20)
        return ()

    hardware = make_hardware(lambda name, progress: loads.append(name) or tiny_engine())
    events_of(hardware, start(hardware))
    fetching.fetch = fetch
    waiting = start(hardware, pair=ELSEWHERE)
    stream = hardware.batches(waiting)
    told = "Downloading them/model (0.5 of 2.0 GB) (25%). Others may run before you meanwhile."
    wait_until(lambda: {"type": "status", "text": told} in next(stream))
    for _ in range(2):
        assert last(hardware)["end"]["stopped"] == "length"
    assert loads == ["embedded"]
    let_go.set()
    assert list(chain(*stream))[-1]["end"]["stopped"] == "length"
    assert loads == ["embedded", ELSEWHERE] and not len(hardware.queue)


def test_a_pair_that_does_not_fit_is_refused_before_it_is_fetched_and_the_loaded_one_stays(make_hardware, fetching):
    loads, asked = [], []

    def load(name, progress):
        loads.append(name)
        return change_pair(tiny_engine(), memory={"cpu": 12})

    def check(name, spare):
        asked.append((name, spare))
        if "big" in name:
            raise UserError("big needs 90 GB of memory.")

    hardware = make_hardware(load)
    fetching.check, fetching.fetch = check, lambda name, progress: pytest.fail("it was fetched")
    events_of(hardware, start(hardware))
    for pair in ("them/big + them/draft", "./big + ./draft"):
        # Of models in folders, the hardware's thread looks at the size.
        assert last(hardware, pair=pair)["message"] == "big needs 90 GB of memory."
        assert asked[-1] == (pair, {"cpu": 12})
    assert last(hardware)["end"]["stopped"] == "length"
    assert loads == ["embedded"] and worker_of(hardware).loaded == "embedded"


@pytest.fixture
def slow(make_hardware, fetching):
    """Hardware that never has its first pair ready, loaded or fetched: all that it has begun with, and its ends."""
    begun, ended = [], []

    def read(name, progress):
        is_first = not begun
        begun.append(name)
        try:
            while is_first:
                progress(0.98, "Reading")
                time.sleep(0.002)
        finally:
            ended.append(name)
        return tiny_engine()

    fetching.fetch = read
    return make_hardware(read, load_seconds=60), begun, ended


@pytest.mark.parametrize("pair", ["./slow + ./slow", ELSEWHERE])
def test_models_that_are_not_ready_in_time_are_told_and_hold_nobody(slow, pair):
    hardware, begun, ended = slow
    run = start(hardware, pair=pair)
    wait_until(lambda: begun)
    assert 0 < run.deadline - time.monotonic() <= 60
    behind = hardware.batches(start(hardware))
    if pair != ELSEWHERE:
        told = f"{told_place(1)[0]['text']} Now: Reading ("
        wait_until(lambda: any(event.get("text", "").startswith(told) for event in next(behind)))
    run.deadline = 0.0
    sentence = f"{pair} was not ready within 60 seconds, the limit here: choose another pair."
    assert events_of(hardware, run)[-1]["message"] == run.error == sentence
    assert list(chain(*behind))[-1]["end"]["stopped"] == "length"
    wait_until(lambda: pair in ended)
    assert begun == [pair, "embedded"] and not len(hardware.queue)


@pytest.mark.parametrize("pair", ["embedded", ELSEWHERE])
def test_stop_ends_the_loading_or_fetching_that_the_run_itself_asked_for(slow, pair):
    hardware, begun, ended = slow
    run = start(hardware, pair=pair)
    stream = hardware.batches(run)
    wait_until(lambda: any("Reading" in event["text"] for event in next(stream)))
    run.stop.set()
    assert ended_before_it_began(list(chain(*stream)))
    wait_until(run.future.done)
    assert run.error is None and ended == [pair] and not len(hardware.queue)
    assert last(hardware)["end"]["stopped"] == "length" and begun == [pair, "embedded"]
