"""A run of the Lab: what its folder does not hold yet is measured and written there, answer after answer."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from duoviz import runner
from duoviz.decoding.costs import CostModel, mean_model
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import Stopped
from duoviz.decoding.placement import Placement
from duoviz.errors import UserError
from duoviz.lab.environment import IN_TURN, ON_TARGET, TOGETHER, environment
from duoviz.lab.forwards import QUICK_LENGTH, QUICK_REPEATS, REPEATS, TOKENS, lengths, measure_forwards
from duoviz.lab.plan import VANILLA, Plan, label_of
from duoviz.lab.progress import Progress
from duoviz.lab.results import Folder
from duoviz.lab.rows import Row, answer_row, failed_row, key
from duoviz.lab.tasks import Question, task_name
from duoviz.lab.values import seconds, speed
from duoviz.runs import Lane, short
from duoviz.trace.agreement import Written, agreement, worst

WARMUP = "Name three colours of the rainbow."


class Job(NamedTuple):
    """One answer to be made."""

    repeat: int
    question: Question
    lane: Lane

    @property
    def key(self) -> tuple:
        """What tells the answer from all others of a run, as `rows.key` does."""
        return self.lane.name, self.question.id, self.repeat

    @property
    def label(self) -> str:
        return f"{label_of(self.lane.name)}, {task_name(self.question.task)} {self.question.id}"


class Clock:
    """How long the answers to come will take, from those there are: each lane's seconds a token allowed."""

    def __init__(self, rows: Sequence[Row] = ()):
        self.seconds: dict[str, float] = defaultdict(float)
        self.tokens: dict[str, int] = defaultdict(int)
        for row in rows:
            self.see(row)

    def see(self, row: Row) -> None:
        """Count in an answer that has been made."""
        self.seconds[row["model_id"]] += seconds(row)
        self.tokens[row["model_id"]] += row["settings"]["max_new_tokens"] * len(row["choices"][0]["turns"])

    def left(self, jobs: Sequence[Job]) -> float | None:
        """Seconds for these; None before the first answer. A lane without one counts as the mean of the others."""
        if not self.tokens:
            return None
        mean = sum(self.seconds.values()) / sum(self.tokens.values())
        rates = {lane: self.seconds[lane] / self.tokens[lane] for lane in self.tokens}
        return sum(
            rates.get(job.lane.name, mean) * job.lane.settings.max_new_tokens * len(job.question.turns) for job in jobs
        )


class CourseOfCosts:
    """Both sides' costs over a run, in which the machine's speed changes: at once, in turn, and on the target's cores.

    Measured at first where no draft has run. Raises DraftDied, Stopped.
    """

    def __init__(self, engine: Engine, stopped: Callable[[], bool]):
        all_cores, target_cores = engine.pair.cores.all, engine.pair.cores.target
        placements = {
            TOGETHER: Placement(True, target_cores),
            IN_TURN: Placement(False, all_cores),
            ON_TARGET: Placement(False, target_cores),
        }
        self.costs = {name: engine.known_costs(placement, stopped=stopped) for name, placement in placements.items()}
        self.counts: dict[str, int] = {}
        self.models: dict[str, list[CostModel]] = {name: [] for name in placements}
        self.note()

    def note(self) -> None:
        """Keep the costs of the placements in which something ran since the last time."""
        for name, costs in self.costs.items():
            if self.counts.get(name) != costs.target.count:
                self.counts[name] = costs.target.count
                self.models[name].append(costs.model)

    def means(self) -> dict[str, CostModel]:
        """The means until now."""
        return {name: mean_model(models) for name, models in self.models.items()}


def bench(engine: Engine, plan: Plan, folder: Folder, *, stopped: Callable[[], bool] = bool) -> Iterator[Progress]:
    """Measure what the plan asks for and the folder does not hold.

    Ends early where `stopped` says so, also in the middle of an answer; an answer that was cut is not
    written. What goes wrong in one answer is written as failed. Raises LabError, and DraftDied where
    the draft does not start.
    """
    yield Progress(0, 0, None, "Timing both models on this machine")
    delta = engine.rounding_delta(engine.pair.encode(WARMUP))
    try:
        course = CourseOfCosts(engine, stopped)
    except Stopped:
        return
    folder.begin(plan.described(), environment(engine.pair, course.means(), delta))
    held = folder.load()
    answers, clock = {key(row): row for row in held.rows}, Clock(held.rows)
    jobs = [job for job in jobs_of(plan) if job.key not in answers]
    done, total = len(answers), len(answers) + len(jobs)

    yield Progress(done, total, clock.left(jobs), "Warming up")
    try:
        warm_up(engine, jobs, plan.warmups, stopped)
        for row in missing_forwards(engine, plan.quick, held.forwards, stopped):
            folder.append("forwards.jsonl", row)
            yield Progress(done, total, clock.left(jobs), f"Figure 1: {TOKENS} tokens after {row['length']:,}")
        for number, job in enumerate(jobs, 1):
            row = answer(engine, job, answers.get((VANILLA, job.question.id, job.repeat)), delta, stopped)
            if "choices" in row:
                folder.append(f"answers/{row['model_id']}.jsonl", row)
                answers[key(row)] = row
                clock.see(row)
            else:
                folder.append("failed.jsonl", row)
            course.note()
            yield Progress(done + number, total, clock.left(jobs[number:]), answer_line(job, row))
    except Stopped:
        pass
    folder.note(environment(engine.pair, course.means(), delta))


def jobs_of(plan: Plan) -> list[Job]:
    """All answers in the order they are made: vanilla's first, those of the others in an order that turns round."""
    jobs = []
    for number, (repeat, question) in enumerate(product(range(plan.repeats), plan.questions)):
        first, *others = plan.lanes(question.task)
        others = others if number % 2 == 0 else others[::-1]
        jobs += [Job(repeat, question, lane) for lane in (first, *others)]
    return jobs


def warm_up(engine: Engine, jobs: Sequence[Job], rounds: int, stopped: Callable[[], bool]) -> None:
    """Let every lane that is to run answer a short question. Raises Stopped."""
    lanes = {job.lane.name: job.lane for job in jobs}.values()
    for _ in range(rounds):
        for lane in lanes:
            try:
                runner.conversation(engine, lane._replace(settings=short(lane.settings)), [WARMUP], stopped=stopped)
            except Stopped:
                raise
            except Exception:
                continue  # Its first answer says why.


def missing_forwards(engine: Engine, quick: bool, held: Sequence[dict], stopped: Callable[[], bool]) -> Iterator[dict]:
    """The times of Figure 1 that are not held. Raises Stopped."""
    limit = engine.pair.target.context_limit
    wanted = lengths(min(limit, QUICK_LENGTH + TOKENS) if quick else limit)
    missing = sorted(set(wanted) - {row["length"] for row in held})
    return measure_forwards(engine, missing, QUICK_REPEATS if quick else REPEATS, stopped=stopped)


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
        return failed_row(job.question, job.lane, job.repeat, sentence)
    return row


def verdict(row: Row, vanilla: Row, delta: float) -> str | None:
    """The worst verdict of a row's turns up to the first that differs: the next turn's prompt holds its answer.

    None where the rows were kept without gaps, as older versions did.
    """
    agreements = []
    for mine, theirs in zip(row["measured"], vanilla["measured"], strict=True):
        if "gaps" not in mine or "gaps" not in theirs:
            return None
        ours, vanillas = (Written(turn["token_ids"], turn["gaps"]) for turn in (mine, theirs))
        agreements.append(agreement(ours, vanillas, delta))
        if agreements[-1]["verdict"] != "equal":
            break
    return worst(agreements)["verdict"]


def answer_line(job: Job, row: Row) -> str:
    """One line about an answer."""
    if "choices" not in row:
        return f"{job.label}: failed. {row['message']}"
    return f"{job.label}: {speed(row):.1f} tokens/s" + (f", {row['verdict']}" if row["verdict"] else "")
