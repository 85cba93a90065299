"""How many times as fast one side is as another, and whether that is more than noise: one rule for all."""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from statistics import mean
from typing import NamedTuple

# Noise is estimated from at least so many questions more than there are tasks.
FEWEST = 4


class Timed(NamedTuple):
    """One answer: tokens in seconds."""

    task: str
    question: Hashable
    tokens: int
    seconds: float


class Around(NamedTuple):
    """A figure of n questions, and two standard errors of it: None where they are too few."""

    value: float
    noise: float | None
    n: int


class SpeedUp(Around):
    """φ: how many times as fast as another, on the questions that both answered."""

    @property
    def verdict(self) -> str:
        """`faster`, `slower`, or `tie` within noise; `too few` to say."""
        if self.noise is None:
            return "too few"
        if abs(self.value - 1) <= self.noise:
            return "tie"
        return "faster" if self.value > 1 else "slower"


def average_speed(answers: Sequence[Timed]) -> Around:
    """The mean over tasks of total tokens over total time."""
    effects = effects_of(answers)
    return Around(mean_of_tasks(answers), noise(effects, answers), len(effects))


def speed_up(mine: Sequence[Timed], theirs: Sequence[Timed]) -> SpeedUp | None:
    """The ratio of both `average_speed`s. mine, theirs: answers to the same questions; None where there are none."""
    if not mine:
        return None
    speeds, effects = (mean_of_tasks(mine), mean_of_tasks(theirs)), (effects_of(mine), effects_of(theirs))
    phi = speeds[0] / speeds[1]
    moves = {each: phi * (effects[0][each] / speeds[0] - effects[1][each] / speeds[1]) for each in effects[0]}
    return SpeedUp(phi, noise(moves, mine), len(moves))


def by_task(answers: Sequence[Timed]) -> dict[str, list[Timed]]:
    found = defaultdict(list)
    for answer in answers:
        found[answer.task].append(answer)
    return found


def mean_of_tasks(answers: Sequence[Timed]) -> float:
    return mean(tokens_over_time(group) for group in by_task(answers).values())


def tokens_over_time(answers: Sequence[Timed]) -> float:
    return sum(answer.tokens for answer in answers) / sum(answer.seconds for answer in answers)


def effects_of(answers: Sequence[Timed]) -> dict[Hashable, float]:
    """By how much each question, all its repeats together, moves the `mean_of_tasks`, to first order."""
    effects: dict[Hashable, float] = defaultdict(float)
    groups = by_task(answers)
    for group in groups.values():
        speed, seconds = tokens_over_time(group), sum(answer.seconds for answer in group)
        for answer in group:
            effects[answer.question] += (answer.tokens - speed * answer.seconds) / seconds / len(groups)
    return effects


def noise(effects: dict[Hashable, float], answers: Sequence[Timed]) -> float | None:
    """Two standard errors of what questions drawn within their tasks move by so much; None where they are too few."""
    free = len(effects) - len(by_task(answers))
    if free < FEWEST:
        return None
    return 2 * math.sqrt(len(effects) / free * sum(effect**2 for effect in effects.values()))
