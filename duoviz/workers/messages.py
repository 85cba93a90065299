"""Messages to a worker. It answers with events, dicts with a `type`:

`loading` (text), `released` (its pair), `ready` (pair, longest_prompt, memory), `exclusive` (it waits until nothing
else runs on the machine), `measured` (others may go on), `begun` (decoding), `summary`, `fetched` (sources), `done`
(an assignment's last event); all others are for the visitor.
"""

from typing import Any, NamedTuple

from duoviz.workers.tasks import Task

INTERNAL = "Internal error; the server's log has the details."


class Assignment(NamedTuple):
    """Run this task. number: of this assignment, ascending. sources: the pair's files, if they were downloaded."""

    number: int
    task: Task
    sources: Any = None


class Cancel(NamedTuple):
    """End the assignment of this number. reason: how the run was stopped, and with which message."""

    number: int
    reason: tuple[str, ...] = ("stopped",)


class Exclusive(NamedTuple):
    """Nothing else runs on the machine now: the assignment of this number may measure."""

    number: int


class WorkerDied(RuntimeError):
    """A worker's process has ended or hangs; the message is a sentence for the user."""


class WorkerGone(WorkerDied):
    """A worker cannot be started again: its machine has left the cluster."""
