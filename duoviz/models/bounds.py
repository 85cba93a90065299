"""The bounds of what others' code does with a tokenizer and a chat template that a model brings along."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from duoviz.errors import UserError, first_line

# Seconds of processor time, however busy the machine is: to load a tokenizer, and to put a text into the template, read
# it or write it.
LOADING, TEXT = 60.0, 10.0
# Bytes that may be taken besides those in use.
MEMORY = 2_000_000_000
# Characters of what an exception says: a template may raise one with the whole prompt.
LONGEST_REASON = 200

TOO_LONG = "A model's tokenizer or chat template took too long, so its process was ended: choose another model"
KILLED = "The process that ran this was killed or ran out of memory (exit code {})"

# Where the bounds hold: standard error, and /dev/null, which replaces it meanwhile: Rust tells of its panics at length.
held: tuple[int, int] | None = None


def expend() -> None:
    """Let the bounds hold: what exceeds one may end this process, and who started it tells why (see `why_ended`)."""
    global held
    held = os.dup(2), os.open(os.devnull, os.O_WRONLY)


def why_ended(code: int | None) -> str:
    """Why an expendable process ended with this exit code; the beginning of a sentence."""
    return TOO_LONG if code == -signal.SIGPROF else KILLED.format(code)


@contextmanager
def bounded(seconds: float, sentence: str, *, memory: bool = True) -> Iterator[None]:
    """Run others' code; whatever goes wrong in it raises UserError, with the sentence and the reason.

    Where the bounds hold, it prints nothing, and ends the process after so many seconds of processor time; with
    `memory`, too much of it is an error, or ends the process.
    """
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        try:
            if held:
                os.dup2(held[1], 2)
                signal.setitimer(signal.ITIMER_PROF, seconds)
            if held and memory:
                used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
                resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, limits[1]))
            yield
        finally:  # before the error is raised, which takes memory, too
            if held:
                resource.setrlimit(resource.RLIMIT_DATA, limits)
                signal.setitimer(signal.ITIMER_PROF, 0)
                os.dup2(held[0], 2)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # of several libraries, each with errors of its own; a panic is no Exception
        reason = "it takes too much memory" if isinstance(error, MemoryError) else first_line(error)[:LONGEST_REASON]
        raise UserError(f"{sentence} ({reason}): choose another model.") from error
