"""A temporary folder that does not outlive its process: where results lie as zips while they are sent."""

import atexit
import shutil
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

PREFIX = "duoviz-lab-"
# Held by the folder's process for as long as it lives.
LOCK = "lock"
DAY = 86_400
# This process's folders, each before it is made.
own: list[Path] = []


def scratch_folder() -> Path:
    """A new folder, removed when this process ends; those that processes left which were killed are removed now."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        remove_left(left)
    own.append(folder := Path(tempfile.gettempdir(), f"{PREFIX}{uuid4().hex}"))
    folder.mkdir(mode=0o700)
    lock = FileLock(folder / LOCK)
    lock.acquire()
    atexit.register(remove, folder, lock)
    return folder


def remove_left(folder: Path) -> None:
    """Remove a folder whose process has ended; one without a lock, of an older version, after a day."""
    lock = FileLock(folder / LOCK)
    try:
        if not (folder / LOCK).exists() and time.time() - folder.stat().st_mtime < DAY:
            return
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        # Its process lives, or another one has removed it meanwhile.
        return
    remove(folder, lock)


def remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def remove_own() -> None:
    """Remove this process's folders in the midst of anything, where it ends without more ado."""
    for folder in own:
        shutil.rmtree(folder, ignore_errors=True)
