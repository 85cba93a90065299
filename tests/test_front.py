"""The unit tests of the page's modules, which stand beside them, by node's own runner."""

import re
import subprocess

from tests.node import FRONT, program

FILES = sorted(file for file in FRONT.rglob("*.test.js") if "node_modules" not in file.parts)


def test_every_unit_test_of_the_modules_passes():
    command = [program(), "--test", "--test-isolation=none", "--test-reporter=tap", *map(str, FILES)]
    done = subprocess.run(command, cwd=FRONT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    # A file that ran no test would pass too.
    assert int(re.findall(r"^# tests (\d+)$", done.stdout, re.MULTILINE)[-1]) >= len(FILES) > 0
