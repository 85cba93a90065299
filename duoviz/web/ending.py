"""How the page's process ends: with all that it has begun, and with its temporary folder, where zips of results lie."""

import multiprocessing
import os
import shutil
from multiprocessing.util import get_temp_dir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duoviz.processes import die_of
from duoviz.workers.local import end_process, starting

# This process's folders, each removed with it.
own: list[TemporaryDirectory] = []


def scratch_folder() -> Path:
    """A new folder, which is removed when this process ends."""
    own.append(TemporaryDirectory(prefix="duoviz-lab-"))
    return Path(own[-1].name)


def end_at_once(number: int, _frame: Any) -> None:
    """A handler. It raises nothing: while modules are imported, an exception may come where it is swallowed."""
    try:
        # What other threads make of it is of no interest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # One that is to be forked waits for its models first.
        starting.acquire(timeout=1)
        for worker in multiprocessing.active_children():
            end_process(worker)
        for folder in (*(each.name for each in own), get_temp_dir()):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        die_of(number)
