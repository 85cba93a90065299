"""How torch's threads wait, as a fresh Python has it."""

import os
import subprocess
import sys

import pytest

from duoviz import SPINS

# The environment is set before torch is imported.
CODE = """
import os, sys
import duoviz
assert "torch" not in sys.modules
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
