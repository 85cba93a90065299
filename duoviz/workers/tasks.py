"""What a worker can be asked to do, as plain data (`worker` does it), and the messages to it.

It answers with events, dicts with a `type`: `loading` (text), `ready` (pair, memory), `exclusive` (it waits until
nothing else runs on the machine), `measured` (others may go on), `begun` (decoding), `done` (an assignment's last
event); all others are for the visitor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from duoviz.decoding.settings import Settings, check_flag, check_number
from duoviz.lab.plan import Plan
from duoviz.runs import Lane, check_method

MAX_REPEATS = 10
STOPPED = {"stopped": "stopped"}


@dataclass(frozen=True, kw_only=True)
class Task:
    """pair: the models that it needs. prompt_tokens: the most tokens that its prompt, if any, may have.

    exclusive: whether nothing else may run on the machine meanwhile. timed: whether its decoding has a time limit.
    """

    pair: str
    exclusive: ClassVar[bool] = False
    timed: ClassVar[bool] = True
    prompt_tokens: float = inf

    def check(self) -> None:
        """Raise UserError for a mistake that shows before it runs."""


class Load(Task):
    """Load a pair, so that the first visitor waits less."""


@dataclass(frozen=True, kw_only=True)
class Fetch(Task):
    """Get a pair's files from the hub. spare: bytes on each device that will be given back before it is loaded."""

    spare: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Run(Task):
    """One method on one prompt."""

    method: str
    prompt: str
    settings: Settings
    raw: bool

    def check(self) -> None:
        check_flag("raw", self.raw)
        check_method(self.method)


@dataclass(frozen=True, kw_only=True)
class Comparison(Task):
    """Two methods on one prompt, each alone, in alternating order.

    lanes: the two sides, then further baselines for φ. smaller: φ of the same race with a smaller target, by pair
    and lane.
    """

    exclusive: ClassVar[bool] = True
    lanes: Sequence[Lane]
    prompt: str
    raw: bool
    repeats: int
    smaller: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def check(self) -> None:
        check_flag("raw", self.raw)
        for lane in self.lanes:
            check_method(lane.method)
        check_number("Rounds (repeats)", self.repeats, 1, MAX_REPEATS)


@dataclass(frozen=True, kw_only=True)
class Measurement(Task):
    """A run of the Lab: measure a plan into a folder, and resume what the folder already holds."""

    exclusive: ClassVar[bool] = True
    timed: ClassVar[bool] = False
    plan: Plan
    path: Path


class Assignment(NamedTuple):
    """Run this task. number: of this assignment, ascending."""

    number: int
    task: Task


class Cancel(NamedTuple):
    """End the assignment of this number."""

    number: int


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

    def alive(self) -> bool:
        """Whether it can be given an assignment; asked while it has none."""
        ...

    def close(self) -> None:
        """End it, with all that it started; safe to call twice."""
