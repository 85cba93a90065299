"""Figures made from rows: each with the number of rows it comes from, and their spread or its noise."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from statistics import mean, stdev
from typing import NamedTuple

from duoviz.decoding.theory import Acceptance
from duoviz.lab.plan import TARGET_ONLY, VANILLA
from duoviz.lab.rows import Row
from duoviz.lab.tasks import ALL_TASKS, in_order, task_name, with_all

# From which φ on drafting is worth it.
GAIN = 1.05
# Noise is estimated from at least so many questions more than there are tasks.
FEWEST = 4


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
    def is_counted(self) -> bool:
        """Whether it is to be said from how many values it comes."""
        return bool(self.spread or self.digits)

    @property
    def verdict(self) -> str:
        """Of a φ: `faster`, `slower`, or `tie` within noise; `too few` to say."""
        if self.spread is None:
            return "too few"
        if abs(self.value - 1) <= self.spread:
            return "tie"
        return "faster" if self.value > 1 else "slower"


def mean_of_tasks(rows: Sequence[Row]) -> tuple[float, dict[Hashable, float]]:
    """The mean over tasks of total tokens over total time; and by how much each question, all its repeats together,
    moves it, to first order."""
    speeds, effects, tasks = [], defaultdict(float), dict.fromkeys(row["task"] for row in rows)
    for task in tasks:
        answers = [(row["question_id"], tokens(row), seconds(row)) for row in rows if row["task"] == task]
        time = sum(took for *_, took in answers)
        speeds.append(sum(count for _, count, _ in answers) / time)
        for question, count, took in answers:
            effects[question] += (count - speeds[-1] * took) / time / len(tasks)
    return mean(speeds), effects


def with_noise(value: float, effects: dict[Hashable, float], rows: Sequence[Row], *, digits: int = 1) -> Value:
    """A mean over tasks with two standard errors of it, where other questions could be drawn within each task."""
    free = len(effects) - len({row["task"] for row in rows})
    variance = len(effects) / free * sum(effect**2 for effect in effects.values()) if free >= FEWEST else None
    return Value(value, None if variance is None else 2 * math.sqrt(variance), len(effects), digits, mean=True)


def speed_up(rows: Iterable[Row], bases: Iterable[Row]) -> Value | None:
    """φ: how many times as fast one lane is as another, the ratio of both `mean_of_tasks` on the questions that both
    answered; None where there are none."""
    if not (both := paired(rows, bases)):
        return None
    mine, theirs = zip(*both, strict=True)
    (speed, effects), (base, base_effects) = mean_of_tasks(mine), mean_of_tasks(theirs)
    phi = speed / base
    moves = {each: phi * (effects[each] / speed - base_effects[each] / base) for each in effects}
    return with_noise(phi, moves, mine, digits=2)


def faster_of(phis: Mapping[str, float], *, tie: bool = False) -> str:
    """The method of the higher φ over vanilla, where that is GAIN or more; tie: the two are within noise."""
    best = max(phis, key=lambda method: phis[method])
    if phis[best] < GAIN:
        return "neither"
    return "no difference" if tie else best


def paired(rows: Iterable[Row], bases: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Answers to the same question in the same repeat."""
    by_key = {(row["question_id"], row["repeat"]): row for row in bases}
    return [(row, base) for row in rows if (base := by_key.get((row["question_id"], row["repeat"])))]


def mean_of(values: Iterable[float], digits: int = 1) -> Value:
    """The mean and spread of one value or more."""
    values = list(values)
    return Value(mean(values), spread(values), len(values), digits)


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation; None of a single value."""
    return stdev(values) if len(values) > 1 else None


def rows_of(rows: Iterable[Row], lane: str, task: str | None = None) -> list[Row]:
    """The rows of a lane, on one task or on all."""
    return [row for row in rows if row["model_id"] == lane and (task is None or row["task"] == task)]


def by_lane(rows: Sequence[Row], lanes: Iterable[str]) -> dict[str, list[Row]]:
    """The rows of each of these lanes that has any."""
    return {lane: mine for lane in lanes if (mine := rows_of(rows, lane))}


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


def relative_ttft(rows: Iterable[Row], bases: Iterable[Row]) -> Value | None:
    """The time to the first token over the other lane's on the same question; None where they share none."""
    ratios = [ttft(row) / ttft(base) for row, base in paired(rows, bases)]
    return mean_of(ratios, 2) if ratios else None


def answer_line(row: Row) -> dict:
    """An answer's figures, by column: all turns, in seconds and tokens a second; τ counts the prompt's iteration."""
    return {
        "lane": row["model_id"],
        "task": row["task"],
        "question": row["question_id"],
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


class Speeds(NamedTuple):
    """A lane's figures by what tables call the tasks, all of them first: tokens per second and φ over vanilla; and over
    all tasks φ over vanilla on the target's cores."""

    rows: list[Row]
    tps: dict[str, Value | None]
    phi: dict[str, Value | None]
    phi_same: Value | None


def speeds(rows: Sequence[Row], lanes: Iterable[str]) -> dict[str, Speeds]:
    """Table 1: the figures of each of these lanes that has rows."""
    base, same, tasks = rows_of(rows, VANILLA), rows_of(rows, TARGET_ONLY), tasks_of(rows)
    return {
        lane: Speeds(
            mine,
            # The mean of the tasks' speeds, as the paper's Table 1 averages.
            {ALL_TASKS: with_noise(*mean_of_tasks(mine), mine)}
            | {task_name(task): tps(rows_of(mine, lane, task)) for task in tasks},
            {
                name: speed_up([row for row in mine if row["task"] in group], base)
                for name, group in with_all(tasks).items()
            },
            speed_up(mine, same),
        )
        for lane, mine in by_lane(rows, lanes).items()
    }


def iterations(rows: Iterable[Row], *names: str, later: bool = False) -> list[tuple]:
    """The named entries of every iteration of the rows, or how many tokens it `committed`; later: of those
    `after_prompt`."""
    found = []
    for row in rows:
        lengths = iter(row["choices"][0]["accept_lengths"])
        for turn in row["measured"]:
            entries = turn["iterations"] | {"committed": list(islice(lengths, len(turn["iterations"]["rows"])))}
            lines = list(zip(*(entries[name] for name in names), strict=True))
            found += [lines[place] for place in after_prompt(turn)] if later else lines
    return found


def after_prompt(turn: dict) -> list[int]:
    """The places of a turn's iterations but those that read the prompt: the target's first, and the draft's."""
    steps = turn["iterations"]["draft_steps"]
    drafts_first = next((place for place, count in enumerate(steps) if count), 0)
    return [place for place in range(1, len(steps)) if place != drafts_first]


def acceptance(rows: Iterable[Row]) -> Acceptance:
    """What was accepted in all turns of the rows."""
    return sum((Acceptance(**turn["counts"]) for row in rows for turn in row["measured"]), Acceptance())


def asked(rows: Iterable[Row], plan: Mapping) -> str:
    """How many questions a task has, and how often each was asked."""
    tasks = {row["question_id"]: row["task"] for row in rows}
    counts = Counter(tasks.values()).values()
    fewest, most = min(counts, default=0), max(counts, default=0)
    times = "once" if plan["repeats"] == 1 else f"{plan['repeats']} times"
    return f"{fewest if fewest == most else f'{fewest} to {most}'} a task, each asked {times} in one run"


def like_the_papers(rows: Iterable[Row], plan: Mapping) -> str:
    """How far what was measured is comparable with the paper's values."""
    own = "our own questions of the paper's seven kinds" if plan["source"] == "own" else "questions of a file"
    return (
        f"Measured here: {own}, {asked(rows, plan)}. PLD, REST and Lookahead have default settings, not ones tuned to "
        "this pair."
    )
