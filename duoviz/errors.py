"""What ends in one line for the user, and in no traceback."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INTERNAL = "Internal error; the server's log has the details."
DISK_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class UserError(Exception):
    """The message is a sentence for the user: what is wrong, and what to do."""


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, fit for a sentence: the system's reason, its type where it has none."""
    words = str(getattr(error, "strerror", None) or error)
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[0].rstrip(".:") if lines else type(error).__name__


@contextmanager
def check_write(path: Path) -> Iterator[None]:
    """Raise UserError in place of the system's error, where this file or folder is written."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
