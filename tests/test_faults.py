"""Faults of the machine and of the draft, caused for real."""

import os
import signal

import pytest

from duoviz import runner
from duoviz.decoding.worker import heartbeat
from tests import children
from tests.children import SETTINGS, engine_with_draft, stream, wait_for_draft
from tests.starts import forking, start
from tests.tiny import tiny_engine
from tests.until import has_ended, wait_until

pytestmark = pytest.mark.thorough


def run(engine, method="duodecoding"):
    return runner.collect(runner.stream(engine, method, "hello", SETTINGS))


def count_tested(trace):
    """How many drafted tokens came in time."""
    return sum(iteration["verdict"]["tested"] for iteration in trace["iterations"])


@pytest.fixture(scope="module")
def vanilla_text():
    return run(tiny_engine(), "vanilla")["end"]["text"]


@pytest.fixture(scope="module")
def shared():
    with forking(), engine_with_draft() as engine:
        yield engine


@pytest.fixture
def engine(shared):
    """The engine with a draft that runs: each test leaves one to the next."""
    runner.prepare(shared, "duodecoding")
    return shared


def test_a_late_draft_changes_no_token(engine, vanilla_text):
    process = engine.draft_beside.process
    events, trace = runner.stream(engine, "duodecoding", "hello", SETTINGS), runner.new_trace()
    os.kill(process.pid, signal.SIGSTOP)
    for _ in range(6):
        runner.add_event(trace, next(events))
    assert len(trace["iterations"]) == 5 and not count_tested(trace)
    os.kill(process.pid, signal.SIGCONT)
    wait_for_draft(engine)
    for event in events:
        runner.add_event(trace, event)
    assert trace["end"]["text"] == vanilla_text and count_tested(trace)


@pytest.mark.parametrize(
    "sent, sentence", [(signal.SIGKILL, "The draft process died"), (signal.SIGSTOP, "The draft stopped answering")]
)
def test_a_draft_that_is_killed_or_hangs_ends_its_run_and_the_next_run_starts_another(
    engine, vanilla_text, monkeypatch, sent, sentence
):
    process, events, trace = engine.draft_beside.process, stream(engine), runner.new_trace()
    while not count_tested(trace):
        runner.add_event(trace, next(events))
    # What it was asked before that iteration was shown is answered.
    wait_for_draft(engine)
    os.kill(process.pid, sent)
    if sent == signal.SIGSTOP:
        monkeypatch.setattr(heartbeat, "SILENCE", 0.2)
    for event in events:
        runner.add_event(trace, event)
    assert trace["end"]["stopped"] == "error"
    assert sentence in trace["end"]["message"] and "run again to start a new one" in trace["end"]["message"]
    kept = trace["end"]["text"]
    assert kept and kept != vanilla_text and vanilla_text.startswith(kept)
    assert not process.is_alive()
    monkeypatch.undo()
    assert run(engine)["end"]["text"] == vanilla_text and engine.draft_beside.process.pid != process.pid


def test_a_draft_that_hangs_before_its_first_answer_is_replaced(engine, vanilla_text, monkeypatch):
    hanging = engine.draft_beside
    os.kill(hanging.process.pid, signal.SIGSTOP)
    # The target goes on alone, and the run ends before the answer is overdue.
    assert run(engine)["end"]["text"] == vanilla_text
    monkeypatch.setattr(heartbeat, "SILENCE", 3.0)
    assert run(engine)["end"]["text"] == vanilla_text
    assert not hanging.process.is_alive() and engine.draft_beside.alive()


def test_a_draft_ends_with_the_last_reference_to_its_engine(vanilla_text):
    with forking():
        engine = engine_with_draft()
        assert run(engine)["end"]["text"] == vanilla_text
    process, suspended = engine.draft_beside.process.pid, stream(engine)
    next(suspended)
    del engine
    assert not has_ended(process)
    del suspended
    wait_until(lambda: has_ended(process))


def report(function, *arguments, **options):
    """What the tiny pair does in a process of its own."""
    process, pipe = start(function, *arguments, **options)
    answer = pipe.recv()
    process.join()
    return answer


def test_one_core_gives_the_same_text_and_claims_no_overlap(vanilla_text):
    core = min(os.sched_getaffinity(0))
    answer = report(children.report_on_one_core, core)
    assert answer["texts"] == [vanilla_text] * 2 and answer["tested"]
    assert answer["overlap"] is None
    assert answer["devices"][0] == answer["devices"][1] and answer["devices"][0].startswith(f"CPU core {core} (")


def test_a_daemonic_parent_runs_the_draft_too(vanilla_text):
    answer = report(children.send_report, daemon=True)
    assert answer["texts"] == [vanilla_text] * 2 and answer["tested"]


@pytest.mark.parametrize("kind", ["error", "SIGKILL"])
def test_no_draft_outlives_its_process(kind):
    child, pipe = start(children.end_in_a_run, kind)
    draft = pipe.recv()
    if kind == "SIGKILL":
        child.kill()
    child.join(60)
    wait_until(lambda: has_ended(draft))
