"""How each kind of work is done on a loaded pair, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from duoviz import runner
from duoviz.comparison import outcome, with_smaller
from duoviz.decoding.engine import Engine
from duoviz.errors import UserError
from duoviz.lab.bench import WARMUP, CourseOfCosts, answer, answer_line, bench, missing_forwards, warm_up
from duoviz.lab.environment import environment
from duoviz.lab.plan import VANILLA
from duoviz.lab.report import write_report
from duoviz.lab.results import Results, is_results, opened
from duoviz.lab.tasks import LabError
from duoviz.lab.view import first_view, parts_of
from duoviz.models.files import fetch_pair
from duoviz.models.fit import check_room
from duoviz.models.pair import Pair, check_prompt
from duoviz.runs import add_event, end, new_trace, row, summary
from duoviz.trace.metrics import metrics
from duoviz.workers.tasks import Answers, Comparison, Fetch, Measurement, Run, Survey, Task

if TYPE_CHECKING:
    from duoviz.workers.worker import Emit, Worker

# Seconds between two looks at the tables and figures while a run of the Lab goes on. They are drawn between two
# answers and not during one, so that no answer is slowed by it.
LOOK_EVERY = 30
BEGUN = {"type": "begun"}


def fetch(task: Fetch, check: Callable[[], None], emit: Emit) -> None:
    """Get the files of a pair. Raises Stopped, UserError."""

    def tell(fraction: float, text: str) -> None:
        check()
        emit({"type": "loading", "text": f"{text} ({fraction:.0%})"})

    check_room(task.pair, task.spare)
    emit({"type": "fetched", "sources": [asdict(files) for files in fetch_pair(task.pair, tell)]})


def check_tokens(task: Run | Comparison, pair: Pair) -> None:
    """Raise UserError for a prompt of too many characters, or of more tokens than it may have."""
    check_prompt(task.prompt, pair.longest_prompt)
    if task.prompt_tokens < float("inf"):
        count = len(pair.tokenizer(task.prompt, add_special_tokens=False)["input_ids"])
        if count > task.prompt_tokens:
            limit = f"the limit on this Space is {task.prompt_tokens:,}"
            raise UserError(f"The prompt is too long: {count:,} tokens; {limit}.")


def close(trace: dict, reason: tuple[str, ...]) -> None:
    """Give a trace the end that it lacks: a run that was cut does not know why."""
    if trace["end"] is None or trace["end"]["stopped"] == "stopped":
        trace["end"] = end(trace["iterations"], *reason)


def run(engine: Engine, task: Run, worker: Worker) -> None:
    check_tokens(task, engine.pair)
    trace = new_trace()
    for event in runner.stream(engine, task.method, task.prompt, task.settings, raw=task.raw, stopped=worker.cancelled):
        if event["type"] == "header":
            worker.emit(BEGUN)
        add_event(trace, event)
        if event["type"] != "end":
            worker.emit(event)
    close(trace, worker.cancel.reason)
    worker.emit({"type": "summary", "summary": summary(trace)})
    worker.emit({"type": "end", "end": trace["end"], "metrics": metrics(trace)})


def compare(engine: Engine, task: Comparison, worker: Worker) -> None:
    check_tokens(task, engine.pair)
    race = Race(task, worker.emit)
    race.begin()
    stream = runner.race(
        engine, [task.prompt], task.lanes, repeats=task.repeats, raw=task.raw, stopped=worker.cancelled
    )
    for number, event in enumerate(stream):
        if not number:
            worker.emit(BEGUN)
        race.take(event)
    race.finish(engine, worker.cancel.reason)


class Race:
    """A comparison under way: what came of its runs so far, and what is shown of them."""

    def __init__(self, task: Comparison, emit: Emit):
        self.task, self.emit = task, emit
        self.rows: list[dict] = []
        self.errors: dict[str, str] = {}
        self.running: dict = {}

    def begin(self) -> None:
        lanes = [
            {"name": lane.name, "method": lane.method, "baseline": number > 1}
            for number, lane in enumerate(self.task.lanes)
        ]
        self.emit({"type": "lanes", "lanes": lanes, "repeats": self.task.repeats})

    def take(self, event: dict) -> None:
        """Keep an event of the race, and show what the visitor sees of it."""
        if event["type"] == "error":
            self.fail_lane(event["lane"], event["message"])
        elif event["repeat"] is not None:
            self.record(event)
        elif event["type"] == "header":
            self.emit({"type": "status", "text": f"Warming up: {event['lane']}{self.role(event['lane'])}."})
        elif event["type"] == "end" and event["end"]["stopped"] == "error":
            self.fail_lane(event["lane"], event["end"]["message"])

    def role(self, name: str) -> str:
        """What a lane that is none of both sides is there for."""
        return "" if name in [lane.name for lane in self.task.lanes[:2]] else ", the baseline of the speed-up φ"

    def fail_lane(self, lane: str, message: str) -> None:
        """Tell that a lane could not run; the others go on."""
        self.errors[lane] = message
        self.show(lane, None, {"type": "error", "message": message})

    def show(self, lane: str, repeat: int | None, event: dict) -> None:
        """Show one of a lane's own events."""
        self.emit({"type": "lane", "lane": lane, "repeat": repeat, "event": event})

    def record(self, event: dict) -> None:
        """Add an event to the trace of the run under way; `finish` ends a run that was cut."""
        if event["type"] == "header":
            self.running = {"lane": event["lane"], "repeat": event["repeat"], "trace": new_trace()}
        add_event(self.running["trace"], event)
        if event["type"] != "end":
            self.show(event["lane"], event["repeat"], event)
        elif event["end"]["stopped"] != "stopped":
            self.end_run()

    def end_run(self) -> None:
        """Keep the run under way, and show its end."""
        lane, repeat, trace = self.running.values()
        self.running = {}
        self.rows.append(row(trace, lane, repeat))
        if trace["end"]["stopped"] == "error":
            self.errors[lane] = trace["end"]["message"]
        self.show(lane, repeat, {"type": "end", "end": trace["end"], "metrics": metrics(trace)})

    def finish(self, engine: Engine, reason: tuple[str, ...]) -> None:
        if self.running:
            close(self.running["trace"], reason)
            self.end_run()
        if not self.rows and self.errors:
            return self.emit({"type": "error", "message": next(iter(self.errors.values()))})
        # Where the texts differ, rounding is measured now.
        self.emit({"type": "status", "text": "Comparing both texts."})
        result = outcome(engine, self.task.lanes, self.rows, self.errors)
        result = with_smaller(result, self.task.pair, self.task.smaller)
        self.emit({"type": "summary", "summary": result})
        self.emit({"type": "end", "result": result})


def measure(engine: Engine, task: Measurement, worker: Worker) -> None:
    """`progress` events, and every now and then `results` where there are any.

    The report is written of a run that was stopped, too. Raises LabError's sentence as an event.
    """
    worker.emit(BEGUN)
    looked = time.monotonic()
    try:
        with opened(task.path) as folder:
            for progress in bench(engine, task.plan, folder, stopped=worker.cancelled):
                worker.emit({"type": "progress", "progress": progress})
                if time.monotonic() - looked > LOOK_EVERY and is_results(folder.path):
                    show_results(folder.load(), worker.emit)
                    looked = time.monotonic()
            if is_results(folder.path):
                write_report(folder.path, results := folder.load())
                show_results(results, worker.emit)
    except LabError as error:
        return worker.emit({"type": "error", "message": str(error)})
    worker.emit({"type": "end", "stopped": worker.cancelled()})


def show_results(results: Results, emit: Emit) -> None:
    """What the page shows of results, as an event; where there is no answer yet it goes on showing what it shows."""
    if answers := len(results.rows):
        emit({"type": "results", "answers": answers, "view": first_view(results), "parts": parts_of(results)})


def survey(engine: Engine, task: Survey, worker: Worker) -> None:
    """`environment`, and a `forward` event for each row of Figure 1."""
    worker.emit({"type": "environment", "environment": known_environment(engine, worker)})
    for forward in missing_forwards(engine, task.quick, task.held, worker.cancelled):
        worker.emit({"type": "forward", "row": forward})


def answer_all(engine: Engine, task: Answers, worker: Worker) -> None:
    """A `row` event for each answer, and then the `environment` with the costs that they have shown."""
    known_environment(engine, worker)
    course, delta, warm = (worker.notes[name] for name in ("course", "delta", "warm"))
    cold = [job for job in task.answers if job.lane.name not in warm]
    warm_up(engine, cold, task.warmups, worker.cancelled)
    warm |= {job.lane.name for job in cold}
    vanilla = task.vanilla
    for job in task.answers:
        row = answer(engine, job, vanilla, delta, worker.cancelled)
        if job.lane.name == VANILLA and "choices" in row:
            vanilla = row
        course.note()
        worker.emit({"type": "row", "row": row, "text": answer_line(job, row)})
    worker.emit({"type": "environment", "environment": known_environment(engine, worker)})


def known_environment(engine: Engine, worker: Worker) -> dict:
    """Where a worker measures, and with which costs; measured first where it has not been yet."""
    notes = worker.notes
    if not notes:
        delta = engine.rounding_delta(engine.pair.encode(WARMUP))
        notes |= {"course": CourseOfCosts(engine, worker.cancelled), "delta": delta, "warm": set()}
    return environment(engine.pair, notes["course"].means(), notes["delta"])


HANDLERS: dict[type[Task], Callable] = {
    Run: run,
    Comparison: compare,
    Measurement: measure,
    Survey: survey,
    Answers: answer_all,
}
