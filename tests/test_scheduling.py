"""A test process that dies is replaced, and every other test is run."""

import subprocess
import sys

import pytest

from tests.app import ROOT

CONFTEST = """
from tests.scheduling import Stretches

def pytest_xdist_make_scheduler(config, log):
    return Stretches(config, log)
"""
FILE = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(number, request):
    died = Path(__file__).with_name("died")
    if {dies} and number == 1 and not died.exists():
        died.touch()
        os._exit(3)
"""


@pytest.mark.thorough
def test_after_a_process_has_died_all_tests_are_run(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for number in range(30):
        (tmp_path / f"test_{number}.py").write_text(FILE.format(dies=number == 24))
    command = [sys.executable, "-m", "pytest", "-n", "2", "--rootdir", tmp_path, "-p", "no:cacheprovider", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and "1 failed, 120 passed" in done.stdout, done.stdout
