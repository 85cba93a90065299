"""Workers that are forked from one process, which holds the embedded pair."""

import json
import subprocess
import sys

from duoviz import runner
from duoviz.decoding.settings import Settings
from tests.app import ROOT


def test_weights_are_in_memory_once_and_texts_are_right(embedded_engine):
    command = [sys.executable, "-m", "tests.e2e.embedded.workers_child"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert not told.returncode, told.stderr
    child = json.loads(told.stdout)
    settings = Settings(max_new_tokens=40)
    expected = runner.collect(runner.stream(embedded_engine, "vanilla", "hello", settings))["end"]["text"]
    assert child["texts"] == [expected] * 2
    # Each worker's own memory is less than the pair takes.
    assert max(child["own"]) < embedded_engine.pair.memory["cpu"]
