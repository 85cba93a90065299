"""A process that ends, whatever way, takes its draft along."""

import signal
import subprocess
import sys

import pytest

from tests.app import ROOT
from tests.orphans_child import gone


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
@pytest.mark.parametrize("kind", ["error", "exit", "SIGTERM", "SIGKILL"])
def test_no_draft_outlives_its_process(kind):
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.orphans_child", kind], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    draft = int(child.stdout.readline())
    if kind.startswith("SIG"):
        child.send_signal(getattr(signal, kind))
    child.wait(60)
    assert gone(draft)
