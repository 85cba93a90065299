"""How the page's process ends: with all that it has begun, and with its temporary folder, where zips of results lie."""

import atexit
import multiprocessing
import os
import shutil
import signal
import tempfile
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any
from uuid import uuid4

from duoviz.workers.local import end_process, starting

# This process's folder, where it was made.
SCRATCH = Path(tempfile.gettempdir(), f"duoviz-lab-{uuid4().hex}")
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def scratch_folder() -> Path:
    """A folder that is removed when this process ends."""
    SCRATCH.mkdir(mode=0o700, exist_ok=True)
    return SCRATCH


def end_at_once(number: int, _frame: Any) -> None:
    """A handler. It raises nothing: while modules are imported, an exception may come where it is swallowed."""
    try:
        # What other threads make of it is of no interest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # One that is to be forked waits for its models first.
        starting.acquire(timeout=1)
        for worker in multiprocessing.active_children():
            end_process(worker)
        for folder in (SCRATCH, get_temp_dir()):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        # As a process ends that handles no signal.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
