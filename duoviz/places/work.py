"""What a place is asked to do, as plain data; `doing` does it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from duoviz.decoding.settings import Settings, check_flag, check_number
from duoviz.lab.plan import Plan
from duoviz.runs import Lane, check_method

MAX_REPEATS = 10


@dataclass(frozen=True, kw_only=True)
class Work:
    """pair: the models that it needs. prompt_tokens: how many tokens its prompt may have, where it has one.

    alone: whether nothing else may run on the machine meanwhile. timed: whether its decoding has a time limit.
    """

    pair: str
    alone: ClassVar[bool] = False
    timed: ClassVar[bool] = True
    prompt_tokens: float = float("inf")

    def check(self) -> None:
        """Raise SettingsError for what shows before it runs."""


@dataclass(frozen=True, kw_only=True)
class Load(Work):
    """Load a pair, so that the first visitor waits less."""


@dataclass(frozen=True, kw_only=True)
class Fetch(Work):
    """Get a pair's files from the hub. spare: bytes on each device that will be given back before it is loaded."""

    spare: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Run(Work):
    """One method on one prompt."""

    method: str
    prompt: str
    settings: Settings
    raw: bool

    def check(self) -> None:
        check_flag("raw", self.raw)
        check_method(self.method)


@dataclass(frozen=True, kw_only=True)
class Comparison(Work):
    """Two methods on one prompt, each alone, in alternated order.

    lanes: the two sides first, then the baselines of φ that are run besides. smaller: the speed-ups φ of the same
    race with a smaller target, by lane and pair.
    """

    alone: ClassVar[bool] = True
    lanes: Sequence[Lane]
    prompt: str
    raw: bool
    repeats: int
    smaller: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def check(self) -> None:
        check_flag("raw", self.raw)
        for lane in self.lanes:
            check_method(lane.method)
        check_number("repeats", self.repeats, 1, MAX_REPEATS)


@dataclass(frozen=True, kw_only=True)
class Measurement(Work):
    """A run of the Lab: what a plan asks for, measured into a folder; it goes on where the folder's last run ended."""

    alone: ClassVar[bool] = True
    timed: ClassVar[bool] = False
    plan: Plan
    path: Path


@dataclass(frozen=True, kw_only=True)
class Survey(Work):
    """What a run of the Lab needs to know of a machine first, with the times of Figure 1 that are not held."""

    timed: ClassVar[bool] = False
    quick: bool
    held: Sequence[dict] = ()


@dataclass(frozen=True, kw_only=True)
class Answers(Work):
    """All lanes' answers to one question of the Lab. answers: `bench.Job`s, vanilla's first unless it is held.

    vanilla: its row, where that is held. warmups: rounds of them before a lane's first answer in a place.
    """

    timed: ClassVar[bool] = False
    answers: Sequence[Any]
    vanilla: dict | None
    warmups: int
