"""Nothing of ours stays in the temporary folder."""

import subprocess
import sys

from duoviz.web.ending import PREFIX, scratch_folder
from tests.app import ROOT

CHILD = """
import sys
from duoviz.web.ending import scratch_folder
(scratch_folder() / "results.zip").write_bytes(b"zip")
print("ready", flush=True)
sys.stdin.read()
"""


def child():
    process = subprocess.Popen([sys.executable, "-c", CHILD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_process_takes_its_folder_along_and_the_next_one_what_a_killed_process_left(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed, running = child(), child()
    before = set(tmp_path.glob(f"{PREFIX}*"))
    assert all((folder / "results.zip").is_file() for folder in before)
    killed.kill()
    killed.wait()
    (tmp_path / "duoviz-other").mkdir()
    kept = {scratch_folder(), tmp_path / "duoviz-other"}
    found = set(tmp_path.iterdir())
    # What is in use stays until its process ends.
    assert len(before) == 2 and found > kept and len(found - kept) == len(found & before) == 1
    running.communicate()
    assert running.returncode == 0 and set(tmp_path.iterdir()) == kept
