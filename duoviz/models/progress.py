"""How loading reports its progress, and that a model cannot be had."""

from collections.abc import Callable

from duoviz.errors import UserError

# Called with how far the work is, 0..1, and a sentence; an exception that it raises ends the work.
Progress = Callable[[float, str], None]


class ModelUnavailable(UserError):
    """A model cannot be had; the message is one sentence that says what to do."""


def no_progress(fraction: float, text: str) -> None:
    """A progress callback that shows nothing."""


def part_of(progress: Progress, begin: float, end: float) -> Progress:
    """A progress callback for the part of the work that lies between two fractions."""
    return lambda fraction, text: progress(begin + (end - begin) * fraction, text)
