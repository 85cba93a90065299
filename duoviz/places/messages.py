"""What is sent to a place; what comes back are events, dicts with a `type`.

`loading` (text), `released` (its pair), `ready` (pair, longest_prompt, memory), `quiet` (it waits until nothing else
runs on the machine), `measured` (others may go on), `begun` (decoding), `summary`, `fetched` (sources), `done` (the
last of an order's); all others are for the visitor.
"""

from typing import Any, NamedTuple

from duoviz.places.work import Work

INTERNAL = "Internal error; the server's log has the details."


class Order(NamedTuple):
    """Do this work. number: of the place's orders, ascending. sources: its pair's files, where they were fetched."""

    number: int
    work: Work
    sources: Any = None


class Halt(NamedTuple):
    """End the order of this number; reason: how the run was stopped, and with which message."""

    number: int
    reason: tuple[str, ...] = ("stopped",)


class Quiet(NamedTuple):
    """Nothing else runs now: the order of this number may measure."""

    number: int


class PlaceDied(RuntimeError):
    """A place has ended or hangs; the message is a sentence for the user."""


class PlaceGone(PlaceDied):
    """A place cannot be started any more: its machine has left."""
