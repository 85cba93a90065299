"""The draft in a process and in a thread: same answers, real failures."""

import os
import sys
import threading
from ctypes import c_ulong
from functools import partial
from types import ModuleType, SimpleNamespace

import pytest

from duoviz.decoding.calibration import MeasureRequest
from duoviz.decoding.drafting import DraftPlan, DraftRequest
from duoviz.decoding.worker import heartbeat
from duoviz.decoding.worker.heartbeat import SILENCE, Heartbeat
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.decoding.worker.protocol import DraftDied, InlineDraft
from duoviz.models.cores import Cores, available_cores
from tests.decoding.small_draft import ThreadDraft, load
from tests.starts import forking
from tests.tiny import CORE
from tests.until import wait_until

CORES = Cores((CORE,), (CORE,))
PLAN = DraftPlan(5, (5,) * 8, 2, "batched", 5)
REQUEST = DraftRequest(None, 0, (5, 9, 3), PLAN)


def answer_of(draft, request):
    draft.submit(request)
    return draft.result()


@pytest.fixture(params=[pytest.param(ProcessDraft, marks=pytest.mark.thorough), ThreadDraft], scope="module")
def draft(request):
    worker = request.param(load, CORES)
    worker.wait_until_started()
    yield worker
    worker.close()


def test_answers_as_in_the_callers_thread(draft):
    inline = InlineDraft(load())
    for request in (REQUEST, DraftRequest(1, 3, (4,), PLAN, kept=2), DraftRequest(None, 5, (6, 7), PLAN)):
        ours, theirs = (answer_of(each, request) for each in (draft, inline))
        assert [(s.tokens, s.slots) for s in ours.sequences] == [(s.tokens, s.slots) for s in theirs.sequences]
        assert [step.tokens for step in ours.steps] == [step.tokens for step in theirs.steps]


def test_a_draft_shows_whether_it_works():
    gate = threading.Event()

    def load_slow():
        model = load()
        forward = model.forward
        model.forward = lambda *arguments, **options: gate.wait() and forward(*arguments, **options)
        return model

    worker = ThreadDraft(load_slow, CORES)
    worker.wait_until_started()
    assert not worker.busy[0]
    worker.submit(REQUEST)
    assert worker.busy[0]
    gate.set()
    worker.result()
    wait_until(lambda: not worker.busy[0])
    worker.close()


def test_an_earlier_answer_is_dropped(draft):
    draft.submit(REQUEST)
    assert set(answer_of(draft, MeasureRequest(context=4, seconds=0.0))) == set(range(1, 9))
    assert not draft.ready()


def test_a_draft_answers_with_what_it_has_where_that_is_enough(draft):
    long = DraftPlan(400, (400,) * 8, 1, "batched", 400)
    draft.submit(DraftRequest(None, 0, (5, 9, 3), long))
    draft.enough()
    (sequence,) = draft.result().sequences
    assert len(sequence.tokens) < 400
    assert answer_of(draft, DraftRequest(0, 3, (4,), PLAN, kept=len(sequence.slots))).sequences


@pytest.mark.thorough
def test_the_process_wakes_on_its_own_core_and_may_go_on_with_one_of_the_targets():
    cores = tuple(available_cores())
    worker = ProcessDraft(load, Cores(cores[-1:], cores[:1]))

    def has(*expected):
        wait_until(lambda: os.sched_getaffinity(worker.process.pid) == set(expected))

    worker.wait_until_started()
    has(cores[0])
    worker.submit(MeasureRequest(context=4, seconds=1e9))
    has(cores[0], cores[-1])
    worker.close()


def test_measuring_is_broken_off_where_another_request_waits(draft):
    draft.submit(MeasureRequest(context=4, seconds=1e9))
    assert answer_of(draft, REQUEST).sequences


def test_an_error_is_reported_and_the_worker_goes_on(draft):
    with pytest.raises(DraftDied, match="cannot crop"):
        answer_of(draft, DraftRequest(None, 99, (5,), PLAN))
    assert answer_of(draft, REQUEST).sequences


def test_a_draft_that_stopped_after_its_answer_has_answered(draft, monkeypatch):
    draft.submit(REQUEST)
    wait_until(lambda: draft.poll(1))
    monkeypatch.setattr(draft, "heartbeat", SimpleNamespace(silent=lambda: True, beats_again=lambda: False))
    assert draft.alive() and draft.ready() and draft.result().sequences


def test_a_process_is_silent_after_regular_looks_and_not_where_who_looks_was_paused(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(heartbeat, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watched = Heartbeat(c_ulong(1))

    def is_silent(later=SILENCE / 10):
        now[0] += later
        return watched.silent()

    assert [is_silent() for _ in range(12)] == 11 * [False] + [True]
    assert not is_silent(60.0)
    assert [is_silent() for _ in range(11)] == 10 * [False] + [True]
    watched.beats.value += 1
    assert not is_silent()


@pytest.mark.thorough
def test_a_killed_process_ends_in_a_sentence():
    worker = ProcessDraft(load, CORES)
    worker.submit(MeasureRequest(context=4, seconds=60.0))
    worker.process.kill()
    with pytest.raises(DraftDied, match="died .*run again to start a new one"):
        worker.result()
    assert not worker.alive()


@pytest.mark.thorough
def test_a_model_that_cannot_be_loaded():
    worker = ProcessDraft(partial(open, "no-such-model"), CORES)
    with pytest.raises(DraftDied, match="could not be loaded: .*No such file"):
        worker.wait_until_started()


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["<stdin>", "not_guarded.py"])
def test_a_process_needs_no_main_module(source, tmp_path, monkeypatch):
    """A script that came through a pipe is no file, and one without a guard would run again."""
    (tmp_path / "not_guarded.py").write_text("raise SystemExit('it ran again')")
    main = ModuleType("__main__")
    main.__file__ = str(tmp_path / source)
    monkeypatch.setitem(sys.modules, "__main__", main)
    with forking():
        worker = ProcessDraft(load, CORES)
    assert answer_of(worker, REQUEST).sequences and sys.modules["__main__"] is main
    worker.close()
