"""The folder for converted models and measurements, and measuring alone on a machine."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

# Seconds: no measurement takes longer, so what holds the lock by then hangs.
PATIENCE = 90.0


def cache_folder() -> Path:
    """The folder for converted models, costs and compiled code: `DUOVIZ_CACHE`, or the user's cache."""
    if chosen := os.environ.get("DUOVIZ_CACHE"):
        return Path(os.path.expanduser(chosen))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "duoviz"


def remember(file: Path, content: dict) -> None:
    """Write a measurement as JSON, atomically; where no cache can be written, the next start measures again."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=file.name + ".part-", dir=file.parent) as scratch:
            part = Path(scratch) / file.name
            part.write_text(json.dumps(content, indent=1))
            os.replace(part, file)


def recall(file: Path) -> Any:
    """What `remember` wrote, or None where the file is missing or damaged."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError, RecursionError):
        return None


@contextmanager
def measuring(*, stopped: Callable[[], bool] = bool) -> Iterator[None]:
    """Be the only process of this user that measures on this machine: two at once would measure each other.

    Where no lock can be had, or `stopped` says that it is no longer wanted, it goes on without one.
    """
    lock = FileLock(Path(tempfile.gettempdir()) / f"duoviz-{os.getuid()}-measuring.lock")
    with ExitStack() as held:
        with suppress(OSError):  # a Timeout is one
            held.enter_context(lock.acquire(timeout=PATIENCE, cancel_check=stopped))
        yield
