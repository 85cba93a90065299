"""One place on the hardware: order, stop, time, failures."""

import os
import threading
import time
import weakref
from pathlib import Path

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.embedded import ModelUnavailable
from duoviz.models.pairs import PromptError, UnknownPair
from duoviz.web.session import QUEUE_LENGTH, LineFull
from tests.decoding.test_draft_worker import load as load_draft
from tests.tiny import held_pair, tiny_pair
from tests.web.conftest import events_of, start, wait_until


def place(number):
    return [{"type": "status", "text": f"Visitors before you: {number}. Your run starts when theirs have ended."}]


def ended_before_it_began(events):
    return events[-1]["type"] == "end" and events[-1]["end"] == {"stopped": "stopped", "wall": 0.0, "text": ""}


def test_a_run_in_order(hardware):
    run = start(hardware)
    events = [event for event in events_of(hardware, run) if event["type"] != "status"]
    assert [event["type"] for event in events][0] == "header" and events[-1]["type"] == "end"
    shown = [event["iteration"]["index"] for event in events if event["type"] == "iteration"]
    assert shown == list(range(len(shown)))
    assert events[-1]["metrics"] == run.summary["metrics"] and run.summary["metrics"]["new_tokens"] == 30


def test_runs_take_turns_and_keep_apart(hardware):
    runs = [start(hardware, prompt=text) for text in ("one", "two", "three")]
    texts = [events_of(hardware, run)[-1]["end"]["text"] for run in runs]
    alone = [events_of(hardware, start(hardware, prompt=text))[-1]["end"]["text"] for text in ("one", "two", "three")]
    assert texts == alone and len(set(texts)) == 3


def test_waiting_visitors_are_told_their_place_as_it_changes(hardware, endless):
    runs = [start(hardware, method=endless) for _ in range(3)]
    streams = [hardware.batches(run) for run in runs]
    assert next(streams[1]) == place(1) and next(streams[2]) == place(2)
    # Nothing is told twice, and a step ends though nothing comes, so that a closed tab is noticed.
    assert next(streams[2]) == [] and hardware.line == runs
    runs[0].stop.set()
    events_of(hardware, runs[0])
    assert next(streams[2]) == place(1)
    # The second has begun: the place it was told is taken back.
    assert {"type": "status", "text": ""} in next(streams[1])


def test_the_line_is_bounded_and_a_visitor_who_leaves_makes_room(hardware, endless):
    runs = [start(hardware, method=endless) for _ in range(1 + QUEUE_LENGTH)]
    with pytest.raises(LineFull, match="20 visitors are waiting already: try again in a few minutes"):
        start(hardware)
    leaving, behind = hardware.batches(runs[1]), hardware.batches(runs[2])
    assert next(leaving) == place(1) and next(behind) == place(2)
    leaving.close()
    assert next(behind) == place(1)
    assert next(hardware.batches(start(hardware))) == place(QUEUE_LENGTH)


def test_stop_while_waiting_ends_the_run_at_once_and_it_never_runs(make_hardware, endless):
    loads = []
    hardware = make_hardware(lambda name, progress: loads.append(name) or tiny_pair())
    first, second = start(hardware, method=endless), start(hardware, pair="big + small")
    stream = hardware.batches(second)
    assert next(stream) == place(1)
    second.stop.set()
    events = [event for events in stream for event in events]
    assert ended_before_it_began(events) and len(events) == 1
    assert not first.future.done() and not first.stop.is_set()
    first.stop.set()
    second.future.result(timeout=120)
    assert second.deadline is None and second.summary is None and loads == ["embedded"]


def test_stopping_keeps_what_was_written(make_hardware):
    hardware = make_hardware(lambda name, progress: held_pair(after=3))
    run = start(hardware, settings=Settings(max_new_tokens=200), method="vanilla")
    seen = 0
    for events in hardware.batches(run):
        seen += sum(event["type"] == "iteration" for event in events)
        if seen >= 3:
            run.stop.set()
    # It was in its fourth forward.
    assert run.summary["stopped"] == "stopped"
    assert seen == run.summary["metrics"]["target_forwards"] == 4


def test_a_batch_comes_with_its_first_event_and_in_order(hardware, endless):
    run = start(hardware, method=endless)
    stream = hardware.batches(run)
    while not any(event["type"] == "header" for event in next(stream)):
        pass
    told = [{"type": "status", "text": text} for text in "abc"]
    run.events.put(told[0])
    assert hardware.next_event(run) == told[:1]
    assert hardware.next_event(run) == []
    for event in told:
        run.events.put(event)
    assert next(stream) == told
    stream.close()


def test_closing_the_stream_of_a_running_run_frees_the_hardware(hardware, endless):
    run = start(hardware, method=endless)
    stream = hardware.batches(run)
    while not any(event["type"] == "header" for event in next(stream)):
        pass
    stream.close()
    assert events_of(hardware, start(hardware))[-1]["type"] == "end"


def test_stop_ends_the_visitors_stream_while_the_thread_is_still_loading(make_hardware):
    loading, let_go = threading.Event(), threading.Event()

    def load(name, progress):
        progress(0.1, "Reading")
        loading.set()
        let_go.wait(120)
        return tiny_pair()

    hardware = make_hardware(load)
    run = start(hardware)
    stream = hardware.batches(run)
    assert loading.wait(120)
    wait_until(lambda: {"type": "status", "text": "Reading (10%)"} in next(stream))
    run.stop.set()
    assert ended_before_it_began([event for events in stream for event in events])
    assert not run.future.done()
    following = start(hardware)
    let_go.set()
    assert events_of(hardware, following)[-1]["end"]["stopped"] == "length"
    assert run.deadline is None


def test_stop_ends_the_loading_that_the_run_itself_asked_for(make_hardware):
    loads = []

    def load(name, progress):
        loads.append(name)
        while len(loads) == 1:
            progress(0.1, "Downloading")
            time.sleep(0.002)
        return tiny_pair()

    hardware = make_hardware(load)
    run = start(hardware)
    wait_until(lambda: loads)
    run.stop.set()
    run.future.result(timeout=120)
    assert run.error is None
    assert events_of(hardware, start(hardware))[-1]["end"]["stopped"] == "length" and len(loads) == 2


def test_a_run_whose_time_is_over_keeps_what_was_written(make_hardware):
    hardware = make_hardware(lambda name, progress: held_pair(after=3), run_seconds=90)
    run = start(hardware, settings=Settings(max_new_tokens=4000))
    events = []
    for batch in hardware.batches(run):
        events += batch
        if any(event["type"] == "iteration" for event in events):
            run.deadline = time.monotonic()
    written = [token["text"] for event in events if event["type"] == "iteration"
               for token in event["iteration"]["committed"]]  # fmt: skip
    end = events[-1]["end"]
    assert end["stopped"] == "time" and end["message"] == "Stopped: a run may take 90 seconds here."
    assert 0 < len(written) < 4000 and "".join(written) == end["text"] == run.summary["text"]


def test_the_time_ends_a_run_inside_a_long_step_and_stop_is_told_apart(make_hardware, endless):
    hardware = make_hardware(run_seconds=0.3)
    assert events_of(hardware, start(hardware, method=endless))[-1]["end"]["stopped"] == "time"
    hardware = make_hardware()
    run = start(hardware, method=endless)
    wait_until(lambda: run.deadline)
    run.stop.set()
    assert events_of(hardware, run)[-1]["end"]["stopped"] == "stopped"


def test_waiting_does_not_count_towards_the_time(make_hardware, endless):
    hardware = make_hardware(run_seconds=0.3)
    first, second = start(hardware, method=endless), start(hardware, method=endless)
    wait_until(lambda: second.deadline)
    # The first had all of its time, and then the second begins to have its own.
    assert second.deadline >= first.deadline + 0.3


@pytest.mark.parametrize(
    "changes, error",
    [({"pair": "nobody"}, UnknownPair), ({"method": "magic"}, SettingsError), ({"prompt": "  "}, PromptError)],
)
def test_mistakes_are_told_before_the_run(hardware, changes, error):
    with pytest.raises(error):
        start(hardware, **changes)
    assert not hardware.line


def test_a_prompt_that_is_too_long_is_told_in_the_run(hardware):
    run = start(hardware, prompt="x" * 300)
    assert "too long" in events_of(hardware, run)[-1]["message"] and run.summary is None


def test_a_failure_of_our_own_ends_the_run_and_the_next_one_works(hardware, monkeypatch):
    def broken(pair, prompt_ids, settings):
        raise RuntimeError("a defect")

    monkeypatch.setitem(METHODS, "vanilla", broken)
    run = start(hardware, method="vanilla")
    assert events_of(hardware, run)[-1]["type"] == "error" and "a defect" not in run.error
    assert events_of(hardware, start(hardware))[-1]["type"] == "end"


def test_another_pair_is_loaded_only_when_the_first_is_gone(make_hardware):
    targets, closed, gone = [], [], []

    def load(name, progress):
        gone.append((list(closed), [target() for target in targets]))
        pair = tiny_pair()
        targets.append(weakref.ref(pair.target))
        pair.resources["draft"].close = lambda: closed.append(name)
        return pair

    hardware = make_hardware(load)
    for pair in ("embedded", "embedded", "big + small"):
        assert events_of(hardware, start(hardware, pair=pair))[-1]["type"] == "end"
    assert gone == [([], []), (["embedded"], [None])]


def test_a_pair_that_cannot_be_loaded_is_told_and_the_next_run_works(make_hardware):
    def load(name, progress):
        if name != "embedded":
            raise ModelUnavailable("The model is nowhere to be found.")
        return tiny_pair()

    hardware = make_hardware(load)
    for pair, last in (("embedded", "end"), ("big + small", "error"), ("big + small", "error"), ("embedded", "end")):
        assert events_of(hardware, start(hardware, pair=pair))[-1]["type"] == last
    run = start(hardware, pair="big + small")
    assert events_of(hardware, run)[-1]["message"] == run.error == "The model is nowhere to be found."


def test_closing_the_hardware_ends_all_runs(make_hardware, endless):
    hardware = make_hardware()
    runs = [start(hardware, method=endless) for _ in range(3)]
    wait_until(lambda: runs[0].deadline)
    hardware.close()
    assert [events_of(hardware, run)[-1]["end"]["stopped"] for run in runs] == ["stopped"] * 3


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory and descriptors are read from /proc")
def test_three_hundred_runs_leave_nothing_behind(make_hardware):
    def load(name, progress):
        pair = tiny_pair()
        del pair.resources["draft"]
        pair.load_draft = load_draft
        return pair

    def held():
        status = Path("/proc/self/status").read_text()
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return resident, len(os.listdir("/proc/self/fd"))

    hardware = make_hardware(load)
    after = {}
    for number in range(1, 301):
        run = start(hardware, settings=Settings(max_new_tokens=8))
        assert events_of(hardware, run)[-1]["end"]["stopped"] == "length"
        if number in (50, 300):
            after[number] = held()
    assert after[300][1] <= after[50][1]
    assert after[300][0] - after[50][0] < 20_000, "kilobytes"
