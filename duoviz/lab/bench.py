"""A run of the Lab: what its folder does not hold yet is measured and written there, answer after answer."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple

from duoviz import runner
from duoviz.decoding.costs import CostModel, median_model
from duoviz.decoding.drafting import DraftPlan, DraftRequest
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import PREFILL_CHUNK, Stopped, timed_forward
from duoviz.decoding.placement import Placement
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.errors import UserError
from duoviz.lab.answers import seconds, speed
from duoviz.lab.machine import IN_TURN, ON_TARGET, TOGETHER, environment
from duoviz.lab.plan import VANILLA, Plan, Progress, label_of
from duoviz.lab.results import Folder
from duoviz.lab.rows import Row, answer_row, identity, key
from duoviz.lab.tasks import Question, task_name
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.runs import Lane, short
from duoviz.trace.agreement import Written, agreement

WARMUP = "Name three colours of the rainbow."
TOKENS = 8
# Of --quick: reading 8,192 tokens takes minutes on two cores.
QUICK_LENGTH = 1024
QUICK_REPEATS, REPEATS = 5, 15


class Job(NamedTuple):
    """One answer to be made."""

    repeat: int
    question: Question
    lane: Lane

    @property
    def key(self) -> tuple:
        """What tells the answer from all others of a run, as `rows.key` does."""
        return self.lane.name, self.question.id, self.repeat


def jobs_of(plan: Plan) -> list[Job]:
    """All answers in the order they are made: vanilla first, the others in an order that turns round."""
    jobs = []
    for number, (repeat, question) in enumerate(product(range(plan.repeats), plan.questions)):
        vanilla, *others = [Job(repeat, question, lane) for lane in plan.lanes(question.task)]
        jobs += [vanilla, *(others if number % 2 == 0 else others[::-1])]
    return jobs


def course_of(engine: Engine, stopped: Callable[[], bool]) -> Callable[[], dict[str, CostModel]]:
    """What notes the costs wherever they have changed, for a machine's speed changes, and gives the medians until then.

    Costs are of both sides at once, in turn, and in turn on the target's cores; measured first where no draft has run.
    Raises DraftDied, Stopped.
    """
    cores = engine.pair.cores
    placements = {
        TOGETHER: Placement(True, cores.target),
        IN_TURN: Placement(False, cores.all),
        ON_TARGET: Placement(False, cores.target),
    }
    costs = {name: engine.known_costs(placement, stopped=stopped) for name, placement in placements.items()}
    noted: dict[str, list[CostModel]] = {name: [] for name in placements}

    def note() -> dict[str, CostModel]:
        for name, models in noted.items():
            if (model := costs[name].model) not in models[-1:]:
                models.append(model)
        return {name: median_model(models) for name, models in noted.items()}

    return note


def bench(engine: Engine, plan: Plan, folder: Folder, *, stopped: Callable[[], bool] = bool) -> Iterator[Progress]:
    """Measure what the plan asks for and the folder does not hold.

    Ends early where `stopped` says so, without an answer that was cut. What goes wrong in one answer is written as
    failed. Raises UserError, and DraftDied where the draft does not start.
    """
    yield Progress(0, 0, None, "Timing both models on this machine")
    with suppress(Stopped):
        delta, noted = engine.rounding_delta(engine.pair.encode(WARMUP)), course_of(engine, stopped)
        folder.begin(plan.described(), environment(engine.pair, noted(), delta))
        held = folder.load()
        rows = {key(row): row for row in held.rows}
        left = [job for job in jobs_of(plan) if job.key not in rows]
        total = len(rows) + len(left)

        def progress(text: str) -> Progress:
            return Progress(total - len(left), total, seconds_left(rows.values(), left), text)

        yield progress("Warming up")
        with suppress(Stopped):
            warm_up(engine, left, plan.warmups, stopped)
            while left:
                job = left[0]
                row = answer(engine, job, rows.get((VANILLA, *job.key[1:])), delta, stopped)
                if "choices" in row:
                    folder.append(f"answers/{job.lane.name}.jsonl", row)
                    rows[job.key] = row
                else:
                    folder.append("failed.jsonl", row)
                del left[0]
                noted()
                yield progress(answer_line(job, row))
        folder.note(environment(engine.pair, noted(), delta))
        if not plan.ablations or stopped():
            return
        for row in forwards(engine, held.forwards, stopped, quick=plan.quick):
            folder.append("forwards.jsonl", row)
            yield progress(f"Figure 1: {TOKENS} tokens after {row['length']:,}")


def seconds_left(rows: Collection[Row], left: Sequence[Job]) -> float | None:
    """At the speed of all answers until now, for lanes take turns; None before the first."""
    allowed = sum(row["settings"]["max_new_tokens"] * len(row["choices"][0]["turns"]) for row in rows)
    tokens = sum(job.lane.settings.max_new_tokens * len(job.question.turns) for job in left)
    return tokens * sum(map(seconds, rows)) / allowed if rows else None


def warm_up(engine: Engine, jobs: Sequence[Job], rounds: int, stopped: Callable[[], bool]) -> None:
    """Let every lane answer a short question. Raises Stopped."""
    lanes = {job.lane.name: job.lane for job in jobs}
    for lane in [*lanes.values()] * rounds:
        try:
            asked = lane._replace(settings=short(lane.settings))
            runner.conversation(engine, asked, [WARMUP], stopped=stopped)
        except Stopped:
            raise
        except Exception:
            continue  # Its first answer says why.


def answer(engine: Engine, job: Job, vanilla: Row | None, delta: float, stopped: Callable[[], bool]) -> Row:
    """The row of one answer, checked against vanilla's, or a failed one. Raises Stopped."""
    try:
        traces = runner.conversation(engine, job.lane, job.question.turns, stopped=stopped)
        row = answer_row(job.question, job.lane, job.repeat, traces)
        if vanilla:
            row["verdict"] = verdict(row, vanilla, delta)
    except Stopped:
        raise
    except Exception as error:
        # A run of hours does not end with one answer; what went wrong stands in its row and in the report.
        sentence = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        return identity(job.question, job.lane, job.repeat) | {"message": sentence}
    return row


def verdict(row: Row, vanilla: Row, delta: float) -> str | None:
    """That of a row's first turn that differs, since the next one's prompt holds its answer; None where the rows were
    kept without gaps, as older versions did."""
    found = None
    for turns in zip(row["measured"], vanilla["measured"], strict=True):
        if not all("gaps" in turn for turn in turns):
            return None
        ours, theirs = (Written(turn["token_ids"], turn["gaps"]) for turn in turns)
        if (found := agreement(ours, theirs, delta)["verdict"]) != "equal":
            break
    return found


def answer_line(job: Job, row: Row) -> str:
    """One line about an answer."""
    label = f"{label_of(job.lane.name)}, {task_name(job.question.task)} {job.question.id}"
    if "choices" not in row:
        return f"{label}: failed. {row['message']}"
    return f"{label}: {speed(row):.1f} tokens/s" + (f", {row['verdict']}" if row["verdict"] else "")


def lengths(limit: int) -> list[int]:
    """64, 128, 256, … and the longest that leaves room for the tokens after it."""
    longest = limit - TOKENS
    return [*(64 << n for n in range(20) if 64 << n < longest), longest]


def forwards(engine: Engine, held: Sequence[dict], stopped: Callable[[], bool], *, quick: bool) -> Iterator[dict]:
    """The times of Figure 1 that are not held, the shortest text first (the longest takes minutes): its length, and
    the repeats' seconds of TOKENS draft steps and of a forward of as many tokens.

    Both sides work at the same time, as in DuoDecoding; the first repeat is left out. Raises Stopped.
    """
    pair, repeats = engine.pair, QUICK_REPEATS if quick else REPEATS
    limit = min(pair.target.context_limit, QUICK_LENGTH + TOKENS) if quick else pair.target.context_limit
    missing = sorted({*lengths(limit)} - {row["length"] for row in held})
    draft = engine.draft(beside=True)
    with on_cores(pair.cores.target):
        pair.target.crop(0)
        for length in missing:
            with engine.models():
                read_on(pair.target, draft, length, stopped=stopped)
                times = [both_sides(pair.target, draft, length) for _ in range(1 + repeats)][1:]
            yield {"length": length, "draft": [t[0] for t in times], "target": [t[1] for t in times]}
        pair.target.crop(0)


def read_on(target: LanguageModel, draft: DraftWorker, length: int, *, stopped: Callable[[], bool]) -> None:
    """Let both read until they hold `length` tokens. Raises Stopped."""
    for begin in range(target.length, length, PREFILL_CHUNK):
        if stopped():
            raise Stopped
        count = min(PREFILL_CHUNK, length - begin)
        ask(draft, crop=begin, tokens=count, budget=1)
        target.forward([0] * count, rows=[count - 1])
        draft.result()


def both_sides(target: LanguageModel, draft: DraftWorker, length: int) -> tuple[float, float]:
    """Seconds of drafting TOKENS tokens and of verifying as many, after `length` tokens."""
    ask(draft, crop=length - 1, tokens=1, budget=TOKENS)
    _, span = timed_forward(target, [0] * TOKENS)
    target.crop(length)
    return sum(step.seconds for step in draft.result().steps), span.seconds


def ask(draft: DraftWorker, *, crop: int, tokens: int, budget: int) -> None:
    """Let the draft read `tokens` tokens after the first `crop` and draft one sequence of `budget`."""
    plan = DraftPlan(budget, (budget,) * MAX_SEQUENCES, 1, "batched", budget)
    draft.submit(DraftRequest(None, crop, (0,) * tokens, plan))
