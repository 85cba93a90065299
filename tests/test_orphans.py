"""A process that ends, whatever way, takes its draft along."""

import signal
import subprocess
import sys

import pytest

from tests.app import ROOT
from tests.until import has_ended, wait_until

CHILD = """
import os, sys
from duoviz import runner
from tests.children import SETTINGS, engine_with_draft

engine = engine_with_draft()
events = runner.stream(engine, "duodecoding", "hello", SETTINGS)
next(events), next(events)
print(engine.draft_beside.process.pid, flush=True)
if sys.argv[1] == "error":
    raise RuntimeError("an error of the run's own")
if sys.argv[1] == "exit":
    os._exit(3)
for event in events:
    pass
sys.stdin.read()
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
@pytest.mark.parametrize("kind", ["error", "exit", "SIGTERM", "SIGKILL"])
def test_no_draft_outlives_its_process(kind):
    command = [sys.executable, "-c", CHILD, kind]
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with subprocess.Popen(command, cwd=ROOT, **pipes) as child:
        draft = int(child.stdout.readline())
        if kind.startswith("SIG"):
            child.send_signal(getattr(signal, kind))
        child.wait(60)
    wait_until(lambda: has_ended(draft))
