"""Faults of the machine and of the draft, caused for real."""

import os
import signal
import subprocess
import sys

import pytest

from duoviz import runner
from duoviz.decoding import pulse
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.runtime import runtime
from tests import children
from tests.app import ROOT
from tests.children import SETTINGS, pair_with_draft, stream, wait_for_draft
from tests.starts import start
from tests.tiny import tiny_pair
from tests.weights import ends_at_once

pytestmark = pytest.mark.thorough


def run(pair, method="duodecoding"):
    return runner.collect(runner.stream(pair, method, "hello", SETTINGS))


def count_tested(trace):
    """How many drafted tokens came in time."""
    return sum(each["verdict"]["tested"] for each in trace["iterations"])


@pytest.fixture(scope="module")
def vanilla_text():
    return run(tiny_pair(), "vanilla")["end"]["text"]


@pytest.fixture(scope="module")
def shared():
    pair = pair_with_draft()
    yield pair
    runtime(pair).draft.close()


@pytest.fixture
def pair(shared):
    """The pair with a draft that runs: each test leaves one to the next."""
    runner.prepare(shared, "duodecoding")
    return shared


def test_a_late_draft_changes_no_token(pair, vanilla_text):
    process = runtime(pair).draft.process
    events, trace = runner.stream(pair, "duodecoding", "hello", SETTINGS), runner.new_trace()
    os.kill(process.pid, signal.SIGSTOP)
    for _ in range(6):
        runner.add_event(trace, next(events))
    assert len(trace["iterations"]) == 5 and not count_tested(trace)
    os.kill(process.pid, signal.SIGCONT)
    wait_for_draft(pair)
    for event in events:
        runner.add_event(trace, event)
    assert trace["end"]["text"] == vanilla_text and count_tested(trace)


@pytest.mark.parametrize(
    "sent, sentence", [(signal.SIGKILL, "The draft process died"), (signal.SIGSTOP, "The draft stopped answering")]
)
def test_a_draft_that_is_killed_or_hangs_ends_its_run_and_the_next_run_starts_another(
    pair, vanilla_text, monkeypatch, sent, sentence
):
    process, events, trace = runtime(pair).draft.process, stream(pair), runner.new_trace()
    while not count_tested(trace):
        runner.add_event(trace, next(events))
    os.kill(process.pid, sent)
    if sent == signal.SIGSTOP:
        monkeypatch.setattr(pulse, "SILENCE", 0.2)
    for event in events:
        runner.add_event(trace, event)
    assert trace["end"]["stopped"] == "error"
    assert sentence in trace["end"]["message"] and "the next run starts a new one" in trace["end"]["message"]
    kept = trace["end"]["text"]
    assert kept and kept != vanilla_text and vanilla_text.startswith(kept)
    assert not process.is_alive()
    monkeypatch.undo()
    assert run(pair)["end"]["text"] == vanilla_text and runtime(pair).draft.process.pid != process.pid


def test_a_draft_that_hangs_before_its_first_answer_is_replaced(pair, vanilla_text, monkeypatch):
    hanging = runtime(pair).draft
    os.kill(hanging.process.pid, signal.SIGSTOP)
    # The target goes on alone, and the run ends before the answer is overdue.
    assert run(pair)["end"]["text"] == vanilla_text
    monkeypatch.setattr(pulse, "SILENCE", 3.0)
    assert run(pair)["end"]["text"] == vanilla_text
    assert not hanging.process.is_alive() and runtime(pair).draft.alive()


def test_a_draft_that_ends_while_it_starts(vanilla_text):
    pair = pair_with_draft(ends_at_once)
    with pytest.raises(DraftDied, match=r"died \(exit code 3\); the next run starts a new one"):
        run(pair)
    assert run(pair, "vanilla")["end"]["text"] == vanilla_text


def report(function, *arguments, **options):
    """What the tiny pair does in a process of its own."""
    process, pipe = start(function, *arguments, **options)
    told = pipe.recv()
    process.join()
    return told


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin processes")
def test_one_core_gives_the_same_text_and_claims_no_overlap(vanilla_text):
    core = min(os.sched_getaffinity(0))
    told = report(children.report_on_one_core, core)
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ProcessDraft"
    assert told["overlap"] is None
    assert told["devices"][0] == told["devices"][1] and told["devices"][0].startswith(f"CPU core {core} (")


def test_a_system_that_cannot_pin_gives_the_same_text_and_names_no_core(vanilla_text, tmp_path):
    told = report(children.report_without_pinning, tmp_path)
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ProcessDraft"
    for label, count in zip(told["devices"], told["cores"], strict=True):
        assert label.startswith(f"{count} CPU core")


def test_a_daemonic_parent_runs_the_draft_in_a_thread(vanilla_text):
    told = report(children.send_report, daemon=True)
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ThreadDraft"


def test_no_network_and_no_cache_is_one_line_on_the_command_line(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {"DUOVIZ_CACHE": str(tmp_path / "cache"), "PIP_CONFIG_FILE": os.devnull}
    environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    command = [sys.executable, "-m", "duoviz", "generate", "hi"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, env=environment)
    told = [line for line in done.stderr.splitlines() if line.startswith("duoviz:")]
    assert done.returncode == 1 and len(told) == 1 and "Check the network and start again." in told[0]
    assert "Traceback" not in done.stderr and not done.stdout.strip()
