"""Faults of the machine and of the draft, caused for real."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from duoviz import runner
from duoviz.decoding import draft_worker
from duoviz.decoding.draft_worker import DraftDied
from tests import faults_child
from tests.conftest import tiny_pair
from tests.faults_child import SETTINGS, pair_with_draft, warm_up
from tests.weights import ends_at_once, slow_decoder

ROOT = Path(__file__).resolve().parents[1]


def run(pair, method="duodecoding"):
    return runner.collect(runner.stream(pair, method, "hello", SETTINGS))


def add_until_drafts_are_used(trace, events) -> None:
    """Read events up to the next iteration that had drafted tokens: the target goes on alone while there are none."""
    for event in events:
        runner.add_event(trace, event)
        if event["type"] == "iteration" and event["iteration"]["verdict"]["tested"]:
            return
    pytest.fail("the run ended before the draft was of use")


@pytest.fixture(scope="module")
def vanilla_text():
    return run(tiny_pair(), "vanilla")["end"]["text"]


def report(**options) -> dict:
    """What the tiny pair does in a Python of its own."""
    command = [sys.executable, "-m", "tests.faults_child", "report"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_draft_that_is_killed_or_hangs_ends_its_run_and_the_next_run_starts_another(vanilla_text, monkeypatch):
    pair = pair_with_draft()
    for sent, sentence in ((signal.SIGKILL, "The draft process died"), (signal.SIGSTOP, "did not answer within")):
        warm_up(pair)
        monkeypatch.setattr(draft_worker, "ANSWER_TIMEOUT", 1.0)
        events, trace = runner.stream(pair, "duodecoding", "hello", SETTINGS), runner.new_trace()
        add_until_drafts_are_used(trace, events)
        process = pair.resources["draft"].process
        os.kill(process.pid, sent)
        for event in events:
            runner.add_event(trace, event)
        assert trace["end"]["stopped"] == "error"
        assert sentence in trace["end"]["message"] and "the next run starts a new one" in trace["end"]["message"]
        kept = trace["end"]["text"]
        assert kept and kept != vanilla_text and vanilla_text.startswith(kept)
        assert not process.is_alive()
        monkeypatch.undo()
    assert run(pair)["end"]["text"] == vanilla_text
    pair.resources["draft"].close()


def test_a_draft_that_hangs_before_its_first_answer_is_replaced(vanilla_text, monkeypatch):
    pair = pair_with_draft()
    assert run(pair)["end"]["text"] == vanilla_text
    hanging = pair.resources["draft"].process
    os.kill(hanging.pid, signal.SIGSTOP)
    monkeypatch.setattr(draft_worker, "ANSWER_TIMEOUT", 0.2)
    # The target goes on alone; the run may end before the answer is overdue.
    assert vanilla_text.startswith(run(pair)["end"]["text"])
    time.sleep(0.3)
    monkeypatch.undo()
    assert run(pair)["end"]["text"] == vanilla_text
    assert not hanging.is_alive() and pair.resources["draft"].process.pid != hanging.pid
    pair.resources["draft"].close()


def test_a_draft_that_ends_while_it_starts(vanilla_text):
    pair = pair_with_draft(ends_at_once)
    with pytest.raises(DraftDied, match=r"died \(exit code 3\); the next run starts a new one"):
        run(pair)
    assert run(pair, "vanilla")["end"]["text"] == vanilla_text


def test_a_slow_draft_changes_no_token(vanilla_text):
    pair, trace = pair_with_draft(slow_decoder), runner.new_trace()
    warm_up(pair)
    events = runner.stream(pair, "duodecoding", "hello", replace(SETTINGS, budget=2))
    for _ in range(4):
        add_until_drafts_are_used(trace, events)
    events.close()
    pair.resources["draft"].close()
    assert vanilla_text.startswith(runner.end(trace["iterations"], "stopped")["text"])


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin processes")
def test_one_core_gives_the_same_text_and_claims_no_overlap(vanilla_text):
    core = min(os.sched_getaffinity(0))
    told = report(preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ProcessDraft"
    assert told["overlap"] is None
    assert told["devices"][0] == told["devices"][1] and told["devices"][0].startswith(f"CPU core {core} (")


def test_a_system_that_cannot_pin_gives_the_same_text_and_names_no_core(vanilla_text, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import os\ndel os.sched_getaffinity, os.sched_setaffinity\n")
    told = report(env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ProcessDraft"
    for label, count in zip(told["devices"], told["cores"], strict=True):
        assert label.startswith(f"{count} CPU core")


def test_a_daemonic_parent_runs_the_draft_in_a_thread(vanilla_text):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    parent = context.Process(target=faults_child.send_report, args=(theirs,), daemon=True)
    parent.start()
    theirs.close()
    told = ours.recv()
    parent.join()
    assert told["texts"] == [vanilla_text] * 2 and told["tested"] and told["draft"] == "ThreadDraft"


def test_no_network_and_no_cache_is_one_line_on_the_command_line(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {"DUOVIZ_CACHE": str(tmp_path / "cache"), "PIP_CONFIG_FILE": os.devnull}
    environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    command = [sys.executable, "-m", "duoviz", "generate", "hi"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, env=environment)
    told = [line for line in done.stderr.splitlines() if line.startswith("duoviz:")]
    assert done.returncode == 1 and len(told) == 1 and "Check the network and start again." in told[0]
    assert "Traceback" not in done.stderr and not done.stdout.strip()
