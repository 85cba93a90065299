"""Figures made from rows: each with the number of rows it comes from, and their spread or its noise."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from statistics import mean, stdev
from typing import NamedTuple

from duoviz.decoding.theory import Acceptance
from duoviz.lab.plan import TARGET_ONLY, VANILLA
from duoviz.lab.rows import Row
from duoviz.lab.tasks import ALL_TASKS, in_order, task_name, with_all

# Noise is estimated from at least so many questions more than there are tasks.
FEWEST = 4


class Timed(NamedTuple):
    """One answer: tokens in seconds."""

    task: str
    question: Hashable
    tokens: int
    seconds: float


class Value(NamedTuple):
    """A figure, how far the n values it comes from spread, and how to show it.

    spread: their standard deviation, None for a single one; of a `mean` over tasks its noise: two standard errors, None
    where the questions are too few.
    """

    value: float
    spread: float | None
    n: int
    digits: int = 1
    mean: bool = False

    @property
    def verdict(self) -> str:
        """Of a φ: `faster`, `slower`, or `tie` within noise; `too few` to say."""
        if self.spread is None:
            return "too few"
        if abs(self.value - 1) <= self.spread:
            return "tie"
        return "faster" if self.value > 1 else "slower"


def speed_up(mine: Sequence[Timed], theirs: Sequence[Timed]) -> Value | None:
    """φ, the ratio of both `mean_of_tasks`. mine, theirs: answers to the same questions; None where there are none."""
    if not mine:
        return None
    speeds, effects = (mean_of_tasks(mine), mean_of_tasks(theirs)), (effects_of(mine), effects_of(theirs))
    phi = speeds[0] / speeds[1]
    moves = {each: phi * (effects[0][each] / speeds[0] - effects[1][each] / speeds[1]) for each in effects[0]}
    return Value(phi, noise(moves, mine), len(moves), digits=2, mean=True)


def by_task(answers: Sequence[Timed]) -> dict[str, list[Timed]]:
    found = defaultdict(list)
    for answer in answers:
        found[answer.task].append(answer)
    return found


def mean_of_tasks(answers: Sequence[Timed]) -> float:
    """The mean over tasks of total tokens over total time."""
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


def mean_of(values: Iterable[float], digits: int = 1) -> Value:
    """The mean and spread of one value or more."""
    values = list(values)
    return Value(mean(values), spread(values), len(values), digits)


def mean_if_any(values: Iterable[float], digits: int = 1) -> Value | None:
    """The mean and spread of some values; None where there are none."""
    values = list(values)
    return mean_of(values, digits) if values else None


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation; None of a single value."""
    return stdev(values) if len(values) > 1 else None


def rows_of(rows: Iterable[Row], lane: str, task: str | None = None) -> list[Row]:
    """The rows of a lane, on one task or on all."""
    return [row for row in rows if row["model_id"] == lane and (task is None or row["task"] == task)]


def by_lane(rows: Sequence[Row], lanes: Iterable[str]) -> dict[str, list[Row]]:
    """The rows of each of these lanes that has any."""
    return {lane: mine for lane in lanes if (mine := rows_of(rows, lane))}


def other_lanes(rows: Iterable[Row]) -> dict[str, str]:
    """The lanes of other engines that have rows, each with its baseline, by name."""
    found = {row["model_id"]: row["baseline"] for row in rows if "baseline" in row}
    return dict(sorted(found.items()))


def tasks_of(rows: Iterable[Row]) -> list[str]:
    """The tasks that have rows, in the order of the tables."""
    return in_order(row["task"] for row in rows)


def tokens(row: Row) -> int:
    """New tokens of an answer, all turns."""
    return sum(row["choices"][0]["new_tokens"])


def seconds(row: Row) -> float:
    """Wall time of an answer, all turns."""
    return sum(row["choices"][0]["wall_time"])


def speed(row: Row) -> float:
    """Tokens per second of one answer, all turns."""
    return tokens(row) / seconds(row)


def ttft(row: Row) -> float:
    """Seconds to the first token, of the first turn."""
    return row["measured"][0]["metrics"]["ttft"]


def answer_line(row: Row) -> dict:
    """An answer's figures, by column: all turns, in seconds and tokens a second; τ counts the prompt's iteration."""
    return {
        **{name: row[of] for name, of in (("lane", "model_id"), ("task", "task"), ("question", "question_id"))},
        "repeat": row["repeat"],
        "verdict": row["verdict"],
        "tokens": tokens(row),
        "seconds": seconds(row),
        "tps": speed(row),
        "tau": tokens(row) / sum(row["choices"][0]["decoding_steps"]),
        "ttft": ttft(row),
    }


def tps(rows: Sequence[Row]) -> Value | None:
    """Total tokens over total time, as the paper has it; the spread is that of the answers' own speeds."""
    if not rows:
        return None
    return Value(sum(map(tokens, rows)) / sum(map(seconds, rows)), spread([speed(row) for row in rows]), len(rows))


def paired(rows: Iterable[Row], bases: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Answers to the same question in the same repeat."""
    by_key = {(row["question_id"], row["repeat"]): row for row in bases}
    return [(row, base) for row in rows if (base := by_key.get((row["question_id"], row["repeat"])))]


def ratios(rows: Iterable[Row], bases: Iterable[Row], figure: Callable[[Row], float]) -> list[float]:
    """A figure of each answer over that of the other lane's answer to the same question."""
    return [figure(row) / figure(base) for row, base in paired(rows, bases)]


def timed(row: Row) -> Timed:
    return Timed(row["task"], row["question_id"], tokens(row), seconds(row))


def average(rows: Sequence[Row], tasks: Sequence[str]) -> Value | None:
    """The mean of the tasks' tokens per second, as the paper's Table 1 averages."""
    answers = [timed(row) for row in rows if row["task"] in tasks]
    effects = effects_of(answers)
    return Value(mean_of_tasks(answers), noise(effects, answers), len(effects), mean=True) if answers else None


def difference(rows: Iterable[Row], bases: Iterable[Row]) -> Value | None:
    """How many times as fast one lane is as another, on the questions that both answered; None where there are none."""
    both = [(timed(row), timed(base)) for row, base in paired(rows, bases)]
    return speed_up([mine for mine, _ in both], [theirs for _, theirs in both])


def phi(rows: Sequence[Row], bases: Sequence[Row], tasks: Sequence[str]) -> Value | None:
    """φ on some tasks: see `difference`."""
    return difference([row for row in rows if row["task"] in tasks], bases)


class Speeds(NamedTuple):
    """A lane's figures by what tables call the tasks, all of them first: tokens per second and φ over its engine's
    vanilla; and over all tasks, of ours, its φ over vanilla on the target's cores."""

    rows: list[Row]
    tps: dict[str, Value | None]
    phi: dict[str, Value | None]
    phi_same: Value | None


def speeds(rows: Sequence[Row], lanes: Iterable[str]) -> dict[str, Speeds]:
    """Table 1: the figures of each of these lanes that has rows."""
    same, tasks, others = rows_of(rows, TARGET_ONLY), tasks_of(rows), other_lanes(rows)
    bases = {name: rows_of(rows, name) for name in (VANILLA, *others.values())}
    return {
        lane: Speeds(
            mine,
            {ALL_TASKS: average(mine, tasks)} | {task_name(task): tps(rows_of(mine, lane, task)) for task in tasks},
            {name: phi(mine, bases[others.get(lane, VANILLA)], group) for name, group in with_all(tasks).items()},
            None if lane in others else phi(mine, same, tasks),
        )
        for lane, mine in by_lane(rows, lanes).items()
    }


def iterations(rows: Iterable[Row], *names: str, later: bool = False) -> list[tuple]:
    """The named entries of every iteration of the rows; later: of those `after_prompt`."""
    return [
        entries[place]
        for row in rows
        for turn in row["measured"]
        for entries in [list(zip(*(turn["iterations"][name] for name in names), strict=True))]
        for place in (after_prompt(turn) if later else range(len(entries)))
    ]


def after_prompt(turn: dict) -> list[int]:
    """The places of a turn's iterations but those that read the prompt: the target's first, and the draft's."""
    steps = turn["iterations"]["draft_steps"]
    drafts_first = next((place for place, count in enumerate(steps) if count), 0)
    return [place for place in range(1, len(steps)) if place != drafts_first]


def committed(row: Row) -> list[list[int]]:
    """How many tokens each target forward committed, a list a turn."""
    lengths = iter(row["choices"][0]["accept_lengths"])
    return [list(islice(lengths, len(turn["iterations"]["rows"]))) for turn in row["measured"]]


def acceptance(rows: Iterable[Row]) -> Acceptance:
    """What was accepted in all turns of the rows."""
    return sum((Acceptance(**turn["counts"]) for row in rows for turn in row["measured"]), Acceptance())
