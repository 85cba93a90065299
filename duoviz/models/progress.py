"""How loading reports its progress."""

from collections.abc import Callable

# Called with how far the work is, 0..1, and a sentence; an exception that it raises ends the work.
Progress = Callable[[float, str], None]


def no_progress(fraction: float, text: str) -> None:
    """A progress callback that shows nothing."""


class Course:
    """The progress of work in parts, of which each begins where the one before ended: at 0 where nothing was to do."""

    def __init__(self, progress: Progress):
        self.progress, self.done = progress, 0.0

    def until(self, end: float) -> Progress:
        """A progress callback for the next part, which ends at this fraction."""
        begin = self.done

        def tell(fraction: float, text: str) -> None:
            self.done = begin + (end - begin) * fraction
            self.progress(self.done, text)

        return tell
