"""How the page's process ends: with all that it has begun, and with its temporary folder, where zips of results lie."""

import atexit
import multiprocessing
import os
import shutil
import tempfile
from contextlib import suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout

from duoviz.processes import die_of
from duoviz.workers.local import end_process, starting

PREFIX, LOCK = "duoviz-lab-", "lock"
# This process's folders, each before it is made, and what says as long as it is held that their process lives.
own: dict[Path, FileLock] = {}


def scratch_folder() -> Path:
    """A new folder, removed when this process ends; those that processes left which were killed are removed now."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        # Where its process lives, or another one removes it at the same time, it is left alone.
        with suppress(Timeout, OSError), FileLock(left, timeout=0):
            shutil.rmtree(left.parent, ignore_errors=True)
    folder = Path(tempfile.gettempdir(), f"{PREFIX}{uuid4().hex}")
    own[folder] = FileLock(folder / LOCK)
    folder.mkdir(mode=0o700)
    own[folder].acquire()
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
        die_of(number)
