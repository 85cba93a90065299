"""A worker inside its process: it holds an engine and runs one assignment after another, each as a stream of events."""

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from queue import SimpleQueue

import torch

from duoviz import runner
from duoviz.comparison import outcome, with_smaller
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.forward import Stopped
from duoviz.errors import INTERNAL, UserError
from duoviz.lab.bench import bench
from duoviz.lab.report import first_view, parts_of, write_report
from duoviz.lab.results import Results, is_results, opened
from duoviz.models.cache import measuring
from duoviz.models.files import fetch_pair
from duoviz.models.load import check_room
from duoviz.models.pair import Pair
from duoviz.models.progress import Course
from duoviz.runs import add_event, new_trace
from duoviz.trace.metrics import metrics
from duoviz.workers.tasks import Assignment, Cancel, Comparison, Exclusive, Fetch, Load, Measurement, Run

# The share of a first start that goes by until the models are loaded; the rest goes into measuring them.
LOADING = 0.75
# Before that much of the whole is done, nothing can be said of how long the rest will take.
EARLIEST = 0.04
# Seconds between two looks whether a wait is to end.
GLANCE = 0.1
# Seconds between two drawings of the tables and figures in a run of the Lab; between two answers, so that none is
# slowed by it.
LOOK_EVERY = 30
BEGUN = {"type": "begun"}

log = logging.getLogger(__name__)


class CancelToken:
    """Whether the running assignment is to end. number: the assignment's; latest: the last one that was cancelled."""

    def __init__(self):
        self.number = self.latest = 0

    def __call__(self) -> bool:
        return self.latest >= self.number


class Worker:
    """Runs its assignments on one thread, because torch binds its threads and pinning to the calling thread.

    load: called as `load_engine` is. emit: takes each event as it happens.
    """

    def __init__(self, emit: Callable[[dict], None], load: Callable[..., Engine] = load_engine):
        self.emit, self.load = emit, load
        self.engine: Engine | None = None
        self.loaded: str | None = None
        self.cancelled = CancelToken()
        self.exclusive = threading.Event()

    def tell(self, message: Cancel | Exclusive) -> None:
        """Handle a message about the running assignment; from any thread."""
        if isinstance(message, Cancel):
            self.cancelled.latest = max(self.cancelled.latest, message.number)
        elif message.number == self.cancelled.number:
            self.exclusive.set()

    def check(self) -> None:
        """Raise Stopped where the assignment is to end."""
        if self.cancelled():
            raise Stopped

    def do(self, assignment: Assignment) -> None:
        """Run an assignment; `done` is the last event, whatever happens."""
        self.cancelled.number = assignment.number
        try:
            self.check()
            self.run(assignment)
        except Stopped:
            pass  # Its decoding has not begun: the visitor has been told.
        except UserError as error:
            self.emit({"type": "error", "message": str(error)})
        except Exception:
            log.exception("a job failed")
            self.emit({"type": "error", "message": INTERNAL})
        self.emit({"type": "done"})

    def run(self, assignment: Assignment) -> None:
        task = assignment.task
        if isinstance(task, Fetch):
            return self.fetch(task)
        engine = self.ready_engine(task.pair)
        self.emit({"type": "ready", "pair": self.loaded, "memory": engine.pair.memory})
        self.check()
        if not isinstance(task, Load):
            for event in HANDLERS[type(task)](engine, task, self.cancelled):
                self.emit(event)

    def fetch(self, task: Fetch) -> None:
        """Get the files of a pair. Raises Stopped and UserError."""

        def tell(fraction: float, text: str) -> None:
            self.check()
            self.emit({"type": "loading", "text": f"{text} ({fraction:.0%})"})

        check_room(task.pair, task.spare)
        fetch_pair(task.pair, tell)

    def ready_engine(self, name: str) -> Engine:
        """The pair's engine, loaded now if it was not the last one; one that does not fit leaves that loaded.

        Raises Stopped.
        """
        begin = time.monotonic()

        def tell(fraction: float, text: str) -> None:
            self.check()
            far = f"{fraction:.0%}"
            if fraction >= EARLIEST:
                left = (time.monotonic() - begin) * (1 - fraction) / fraction
                far += f", about {max(1, round(left))} s left"
            self.emit({"type": "loading", "text": f"{text} ({far})"})

        if self.engine is None or self.loaded != name:
            check_room(name, self.engine.pair.memory if self.engine else {})
            self.release()
            self.engine = self.load(name, Course(tell).until(LOADING), draft=True)
            self.engine.measuring = self.measuring
            self.loaded = name
            tell(LOADING, "Starting the draft and timing both models on this machine")
            runner.prepare(self.engine, "duodecoding")
        return self.engine

    @contextmanager
    def measuring(self, *, stopped: Callable[[], bool] = bool) -> Iterator[None]:
        """While nothing else runs on the machine. Raises Stopped."""
        self.exclusive.clear()
        self.emit({"type": "exclusive"})
        try:
            while not self.exclusive.wait(GLANCE):
                if stopped() or self.cancelled():
                    raise Stopped
            with measuring(stopped=stopped):
                yield
        finally:
            self.emit({"type": "measured"})

    def release(self) -> None:
        """Close the loaded pair's draft and free its memory."""
        if self.engine:
            self.engine.close()
        self.engine = self.loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def serve(pipe: Connection, worker: Worker, gone: Callable[[], object] = bool) -> None:
    """Run the assignments that arrive through a pipe, on this thread; the worker sends its events through the same one.

    gone: called by the reading thread once the pipe is closed.
    """
    assignments: SimpleQueue[Assignment | None] = SimpleQueue()

    def read() -> None:
        try:
            while True:
                message = pipe.recv()
                assignments.put(message) if isinstance(message, Assignment) else worker.tell(message)
        except (EOFError, OSError):
            gone()
            worker.tell(Cancel(2**63))
            assignments.put(None)

    threading.Thread(target=read, name="assignments", daemon=True).start()
    while (assignment := assignments.get()) is not None:
        try:
            worker.do(assignment)
        except OSError:
            break  # Nobody takes its events any more.
    worker.release()


def check_tokens(task: Run | Comparison, pair: Pair) -> None:
    """Raise UserError for a prompt of more tokens than it may have."""
    # A token has at least one byte.
    if len(task.prompt.encode()) <= task.prompt_tokens:
        return
    count = len(pair.tokenizer(task.prompt, add_special_tokens=False)["input_ids"])
    if count > task.prompt_tokens:
        limit = f"the limit on this Space is {task.prompt_tokens:,}"
        raise UserError(f"The prompt is too long: {count:,} tokens; {limit}.")


def run(engine: Engine, task: Run, cancelled: CancelToken) -> Iterator[dict]:
    check_tokens(task, engine.pair)
    trace = new_trace()
    for event in runner.stream(engine, task.method, task.prompt, task.settings, raw=task.raw, stopped=cancelled):
        add_event(trace, event)
        if event["type"] == "header":
            yield BEGUN
        yield event | ({"metrics": metrics(trace)} if event["type"] == "end" else {})


def compare(engine: Engine, task: Comparison, cancelled: CancelToken) -> Iterator[dict]:
    check_tokens(task, engine.pair)
    lanes = [
        {"name": lane.name, "method": lane.method, "baseline": number > 1} for number, lane in enumerate(task.lanes)
    ]
    yield {"type": "lanes", "lanes": lanes, "repeats": task.repeats}
    baselines = [lane["name"] for lane in lanes if lane["baseline"]]
    rows, errors, warmed = list[dict](), dict[str, str](), 0
    events = runner.race(engine, [task.prompt], task.lanes, repeats=task.repeats, raw=task.raw, stopped=cancelled)
    for number, event in enumerate(events):
        if not number:
            yield BEGUN
        name, repeat = event["lane"], event["repeat"]
        shown = {"type": "lane", "lane": name, "repeat": repeat}
        if failure := runner.failure_in(event):
            errors[name] = failure
        if "row" in event:
            rows.append(event["row"])
            event = {"type": "end", "end": event["end"], "metrics": event["row"]["metrics"]}
        if event["type"] != "error" and repeat is not None:
            yield shown | {"event": event}
        elif event["type"] == "header":
            role = ", the baseline of the speed-up φ" if name in baselines else ""
            warmed += 1
            yield {"type": "status", "text": f"Warming up, {warmed} of {len(lanes)}: {name}{role}."}
        elif name in errors:
            # It does not run again; the others go on.
            yield shown | {"repeat": None, "event": {"type": "error", "message": errors[name]}}
    if not rows and errors:
        yield {"type": "error", "message": next(iter(errors.values()))}
        return
    # Where the texts differ, rounding is measured now.
    yield {"type": "status", "text": "Comparing both texts."}
    result = outcome(engine, task.lanes, rows, errors)
    yield {"type": "end", "result": with_smaller(result, task.pair, task.smaller)}


def measure(engine: Engine, task: Measurement, cancelled: CancelToken) -> Iterator[dict]:
    """`progress` events, and every now and then `results`; writes the report of a run that was stopped, too.

    Raises UserError.
    """
    yield BEGUN
    looked = time.monotonic()
    with opened(task.path) as folder:
        for progress in bench(engine, task.plan, folder, stopped=cancelled):
            yield {"type": "progress", "progress": progress}
            if time.monotonic() - looked > LOOK_EVERY and is_results(folder.path):
                yield from shown_results(folder.load())
                looked = time.monotonic()
        if is_results(folder.path):
            write_report(folder.path, results := folder.load())
            yield from shown_results(results)
    yield {"type": "end", "stopped": cancelled()}


def shown_results(results: Results) -> Iterator[dict]:
    """What the page shows of results; before their first answer it goes on showing what it shows."""
    if answers := len(results.rows):
        yield {"type": "results", "answers": answers, "view": first_view(results), "parts": parts_of(results)}


HANDLERS = {Run: run, Comparison: compare, Measurement: measure}
