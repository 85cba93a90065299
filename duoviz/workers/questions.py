"""A run of the Lab whose questions are shared out to workers: all lanes of a question answer it in the same one.

So every speed-up is a ratio within one machine.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from itertools import groupby

from duoviz.lab.bench import Job as Answer
from duoviz.lab.bench import fill
from duoviz.lab.plan import VANILLA, Plan, Progress
from duoviz.lab.results import Folder, is_results
from duoviz.lab.rows import Row, failed_row, key
from duoviz.lab.tasks import LabError
from duoviz.workers.pool import Pool
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Answers, Survey

# How often a question is given to a worker before its answers count as failed.
TRIES = 2
# What of a worker's environment stands with its rows.
MACHINE = ("devices", "cores", "precision")


def shared_bench(pool: Pool, pair: str, plan: Plan, folder: Folder) -> Iterator[Progress]:
    """Measure what the plan asks for and the folder does not hold, as `bench` does, in all workers of a pool at once.

    A question whose worker dies goes to another one. Raises LabError.
    """
    yield Progress(0, 0, None, "Measuring what both models cost on the first machine")
    yield from fill(folder, plan, Workers(pool, pair, plan, folder), machines=len(pool.slots))


class Workers:
    """A pool's workers, as `fill` asks them; its environment is the first machine's, and that of each worker so far."""

    def __init__(self, pool: Pool, pair: str, plan: Plan, folder: Folder):
        self.pool, self.pair = pool, pair
        held = folder.load() if is_results(folder.path) else None
        known = held.environment.get("machines", {}) if held else {}
        self.machines = dict(known)
        worker, events = self.surveyed(plan.quick)
        self.first = next(event["environment"] for event in events if event["type"] == "environment")
        if held and known.get(worker) == self.machines[worker]:
            # The survey may be another of its workers' than the first one was.
            self.first |= {name: held.environment[name] for name in MACHINE}

    def environment(self) -> dict:
        return self.first | {"machines": self.machines}

    def answers(self, jobs: Sequence[Answer], held: Sequence[Row], warmups: int) -> Iterator[tuple[Row, str]]:
        for job, event in answered(self.pool, questions(self.pair, jobs, held, warmups), self.machines):
            yield event["row"] | {"place": job.worker}, f"{job.worker}: {event['text']}"

    def forwards(self, quick: bool, held: Sequence[dict]) -> Iterator[dict]:
        return (event["row"] for event in self.surveyed(quick, held)[1] if event["type"] == "forward")

    def surveyed(self, quick: bool, forwards: Sequence[dict] | None = None) -> tuple[str, list[dict]]:
        """A worker and what its survey found; forwards: see `Survey.held`. Raises LabError."""
        self.pool.submit(job := Job(task=Survey(pair=self.pair, quick=quick, held=forwards)))
        job.future.result()
        events = events_of(job, self.machines)
        if job.error:
            raise LabError(job.error)
        return job.worker, events


def questions(pair: str, jobs: Sequence[Answer], held: Sequence[Row], warmups: int) -> list[Answers]:
    """One task for each question, and repeat, that lacks an answer."""
    vanillas, tasks = {key(row): row for row in held if row["model_id"] == VANILLA}, []
    for (question, repeat), answers in groupby(jobs, key=lambda job: (job.question.id, job.repeat)):
        vanilla = vanillas.get((VANILLA, question, repeat))
        tasks.append(Answers(pair=pair, answers=tuple(answers), vanilla=vanilla, warmups=warmups))
    return tasks


def answered(pool: Pool, tasks: Sequence[Answers], machines: dict[str, dict]) -> Iterator[tuple[Job, dict]]:
    """The `row` events of these tasks, each with its job, when that has ended; a task that fails is given out again."""
    waiting: dict = {}

    def submit(task: Answers, tries: int) -> None:
        pool.submit(job := Job(task=task))
        waiting[job.future] = job, task, tries

    for task in tasks:
        submit(task, 1)
    while waiting:
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            job, task, tries = waiting.pop(future)
            events = events_of(job, machines)
            if not job.error:
                yield from ((job, event) for event in events if event["type"] == "row")
            elif tries < TRIES:
                submit(task, tries + 1)
            else:
                yield from ((job, failed(answer, job.error)) for answer in task.answers)


def events_of(job: Job, machines: dict[str, dict]) -> list[dict]:
    """All events of a job that has ended; what they say of its worker is kept in `machines`."""
    found = [job.events.get() for _ in range(job.events.qsize())]
    for event in found:
        if event["type"] == "environment":
            machines[job.worker] = {name: event["environment"][name] for name in MACHINE}
    return found


def failed(answer: Answer, message: str) -> dict:
    """The event of an answer that could not be had."""
    row = failed_row(answer.question, answer.lane, answer.repeat, message)
    return {"row": row, "text": f"{answer.label}: failed. {message}"}
