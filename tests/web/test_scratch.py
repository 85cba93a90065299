"""Nothing of ours stays in the temporary folder."""

import os
import subprocess
import sys
import time

import pytest

from duoviz.web.scratch import DAY, PREFIX, remove_left, scratch_folder
from tests.app import ROOT

CHILD = """
import sys
from duoviz.web.scratch import scratch_folder
(scratch_folder() / "results.zip").write_bytes(b"zip")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def child():
    process = subprocess.Popen([sys.executable, "-c", CHILD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_process_that_ends_takes_its_folder_along(temporary):
    process = child()
    (folder,) = temporary.glob(f"{PREFIX}*")
    assert (folder / "results.zip").is_file()
    process.communicate()
    assert process.returncode == 0 and not list(temporary.iterdir())


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(temporary):
    killed, running = child(), child()
    before = set(temporary.iterdir())
    killed.kill()
    killed.wait()
    for name, age in (("of-an-older-version", 2 * DAY), ("of-one-that-runs", 0)):
        (temporary / f"{PREFIX}{name}").mkdir()
        os.utime(temporary / f"{PREFIX}{name}", (time.time() - age,) * 2)
    (temporary / "duoviz-other").mkdir()
    own = scratch_folder()
    kept = {own, temporary / "duoviz-other", temporary / f"{PREFIX}of-one-that-runs"}
    found = set(temporary.iterdir())
    assert found > kept and len(found) == 4 and len(found & before) == 1
    running.communicate()
    assert set(temporary.iterdir()) == kept


def test_a_folder_that_another_process_removes_at_the_same_time_is_no_trouble(temporary):
    remove_left(temporary / f"{PREFIX}gone")
    assert not list(temporary.iterdir())
