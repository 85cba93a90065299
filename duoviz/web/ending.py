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

# This process's folders, each before it is made.
own: list[Path] = []


def scratch_folder() -> Path:
    """A new folder, which is removed when this process ends."""
    own.append(folder := Path(tempfile.gettempdir(), f"duoviz-lab-{uuid4().hex}"))
    folder.mkdir(mode=0o700)
    return folder


@atexit.register
def remove_own() -> None:
    """Remove this process's folders; also called where it ends in the midst of anything."""
    for folder in own:
        shutil.rmtree(folder, ignore_errors=True)


def end_at_once(number: int, _frame: Any) -> None:
    """A handler. It raises nothing: while modules are imported, an exception may come where it is swallowed."""
    try:
        # What other threads make of it is of no interest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # One that is to be forked waits for its models first.
        starting.acquire(timeout=1)
        for worker in multiprocessing.active_children():
            end_process(worker)
        remove_own()
        shutil.rmtree(get_temp_dir(), ignore_errors=True)
    finally:
        # As a process ends that handles no signal.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
