"""How torch's threads wait, as a fresh Python has it."""

import os
import subprocess
import sys

import pytest

from duoviz.waiting import SPINS

# Even where torch cannot be imported, as here: the environment is set before.
CODE = """
import os, sys
sys.modules["torch"] = None
try:
    import duoviz
except ImportError:
    print(os.environ.get("GOMP_SPINCOUNT"), os.environ.get("OMP_WAIT_POLICY"))
"""


@pytest.mark.parametrize(
    "given, found",
    [({}, f"{SPINS} None"), ({"GOMP_SPINCOUNT": "7"}, "7 None"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None ACTIVE")],
)
def test_waiting_threads_sleep_soon_unless_the_user_says_otherwise(given, found):
    kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run([sys.executable, "-c", CODE], env=kept | given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == found
