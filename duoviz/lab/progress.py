"""How far a run of the Lab is."""

from typing import NamedTuple


class Progress(NamedTuple):
    """How far a run is: answers of all, seconds left (None while nothing is known), and what was just done."""

    done: int
    total: int
    left: float | None
    text: str

    @property
    def words(self) -> str:
        """How far it is, for a reader."""
        if not self.total:
            return "Preparing"
        minutes = None if self.left is None else round(self.left / 60)
        rest = "" if minutes is None else ", less than a minute left" if minutes < 1 else f", about {minutes} min left"
        return f"{self.done} of {self.total} answers{rest if self.done < self.total else ''}"
