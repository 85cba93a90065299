"""A temporary folder that does not outlive its process: where results lie as zips while they are sent."""

import atexit
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

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
