"""Messages to a worker, which answers with events: dicts with a `type`.

`loading` (text), `released` (its pair), `ready` (pair, longest_prompt, memory), `exclusive` (it waits until nothing
else runs on the machine), `measured` (others may go on), `begun` (decoding), `fetched` (sources), `done` (an
assignment's last event); all others are for the visitor.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from duoviz.workers.tasks import Task

INTERNAL = "Internal error; the server's log has the details."
STOPPED = {"stopped": "stopped"}


class Assignment(NamedTuple):
    """Run this task. number: of this assignment, ascending. sources: the pair's files, if they were downloaded."""

    number: int
    task: Task
    sources: Any = None


class Cancel(NamedTuple):
    """End the assignment of this number. reason: what the end of its run says."""

    number: int
    reason: Mapping[str, str] = STOPPED


class Exclusive(NamedTuple):
    """Nothing else runs on the machine now: the assignment of this number may measure."""

    number: int


class WorkerDied(RuntimeError):
    """A worker's process has ended or hangs; the message is a sentence for the user."""


class WorkerGone(WorkerDied):
    """A worker cannot be started again: its machine has left the cluster."""


class WorkerHandle(Protocol):
    """The parent's side of a worker."""

    def send(self, message: Any) -> None:
        """Raises WorkerDied."""

    def receive(self, seconds: float) -> dict | None:
        """The next event, None where none comes in time. Raises WorkerDied."""

    def alive(self) -> bool: ...

    def close(self) -> None:
        """End it, with all that it started; safe to call twice."""
