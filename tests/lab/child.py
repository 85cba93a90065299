"""A run of the Lab on the tiny pair, in a process that a test kills: FILE of questions, folder."""

import sys
from pathlib import Path

from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.results import opened
from tests.conftest import tiny_pair
from tests.lab.conftest import TOKENS

if __name__ == "__main__":
    plan = make_plan(quick=True, file=Path(sys.argv[1]), methods=["duodecoding"], max_new_tokens=TOKENS)
    with opened(Path(sys.argv[2])) as folder:
        for _ in bench(tiny_pair(), plan, folder):
            pass
