"""The one place on the hardware, the line of visitors before it, and one visitor's run."""

import gc
import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import torch

from duoviz import runner
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import Pair, PromptError, load_pair
from duoviz.trace.metrics import metrics
from duoviz.web.limits import Limits

# Visitors who may wait for the one place on the hardware.
QUEUE_LENGTH = 20

# Seconds from one batch to the next, while a run is under way and while it waits in line. Gradio
# notices between two batches only that a visitor has left.
RUNNING_STEP = 0.05
WAITING_STEP = 0.25

log = logging.getLogger(__name__)


class LineFull(RuntimeError):
    """Too many visitors wait already; the message is a sentence for the user."""


USER_ERRORS = (*runner.USER_ERRORS, LineFull)


@dataclass(eq=False, kw_only=True)
class Run:
    """What a visitor asked for, and what has come of it: events come out of a queue, and it can be stopped.

    deadline: when its time is over, on the monotonic clock; None until its decoding begins.
    """

    pair: str
    method: str
    prompt: str
    settings: Settings
    raw: bool
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future | None = None
    deadline: float | None = None
    summary: dict | None = None
    error: str | None = None

    def over(self) -> bool:
        """Whether it is to end: its visitor said so, or its time is up."""
        return self.stop.is_set() or (self.deadline is not None and time.monotonic() > self.deadline)

    def check(self) -> None:
        """Raise Stopped where its visitor has said so."""
        if self.stop.is_set():
            raise Stopped

    def finish(self, trace: dict) -> None:
        """Put the end of a trace into the queue."""
        self.events.put({"type": "end", "end": trace["end"], "metrics": metrics(trace)})
        self.summary = runner.summary(trace)

    def fail(self, message: str) -> None:
        """End the run with a sentence for the visitor."""
        self.error = message
        self.events.put({"type": "error", "message": message})


def drain(events: queue.SimpleQueue) -> list[dict]:
    """All that is in the queue now."""
    taken = []
    while True:
        try:
            taken.append(events.get_nowait())
        except queue.Empty:
            return taken


class Hardware:
    """The one thread that loads pairs and decodes, and the line of runs before it.

    torch keeps its threads and pins with the thread that calls it, so it is always the same one.
    Only that thread touches the loaded pair.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hardware")
        # The runs that have not ended, in the order they came; the first is under way or about to be.
        self.line: list[Run] = []
        self.lock = threading.Lock()
        self.loaded: str | None = None
        self.pair: Pair | None = None
        self.status = ""

    def warm_up(self, name: str = "embedded") -> Future:
        """Begin to load a pair, so that the first visitor waits less."""
        return self.thread.submit(self.ready_pair, name, bool)

    def start(self, pair: str, method: str, prompt: str, settings: Settings, *, raw: bool) -> Run:
        """Put a run into the line; `batches` gives its events. Raises one of USER_ERRORS."""
        self.limits.check_pair(pair)
        runner.check_method(method)
        if not prompt.strip():
            raise PromptError("The prompt is empty: type something for the model to answer.")
        run = Run(pair=pair, method=method, prompt=prompt, settings=settings, raw=raw)
        with self.lock:
            if len(self.line) > QUEUE_LENGTH:
                raise LineFull(f"{QUEUE_LENGTH} visitors are waiting already: try again in a few minutes.")
            self.line.append(run)
            run.future = self.thread.submit(self.work, run)
        return run

    def batches(self, run: Run) -> Iterator[list[dict]]:
        """The run's events as they come, in lists that may be empty; closing the generator stops the run.

        A run that is stopped before its decoding begins ends at once, though the thread may be busy
        with its pair a while longer.
        """
        told = ""
        try:
            while True:
                finished = run.future.done()
                events = drain(run.events)
                if run.stop.is_set() and run.deadline is None:
                    yield [{"type": "end", "end": runner.end([], "stopped"), "metrics": metrics(runner.new_trace())}]
                    return
                if (text := self.status_of(run)) != told:
                    told = text
                    events.insert(0, {"type": "status", "text": text})
                yield events
                if finished:
                    return
                if self.before(run):
                    run.stop.wait(WAITING_STEP)
                else:
                    wait([run.future], timeout=RUNNING_STEP)
        finally:
            run.stop.set()
            self.leave(run)

    def status_of(self, run: Run) -> str:
        """What its visitor is told until its decoding begins; "" from then on."""
        if before := self.before(run):
            return f"Visitors before you: {before}. Your run starts when theirs have ended."
        return self.status

    def before(self, run: Run) -> int:
        """How many runs are to end before this one begins."""
        with self.lock:
            return self.line.index(run) if run in self.line else 0

    def leave(self, run: Run) -> None:
        """Take a run out of the line."""
        with self.lock:
            if run in self.line:
                self.line.remove(run)

    def work(self, run: Run) -> None:
        """Do one run, on the hardware's thread."""
        try:
            run.check()
            pair = self.ready_pair(run.pair, run.check)
            run.check()
            pair.stopped = run.over
            self.follow(run, runner.stream(pair, run.method, run.prompt, run.settings, raw=run.raw))
        except Stopped:
            pass  # Its decoding has not begun: the visitor has been told.
        except USER_ERRORS as error:
            run.fail(str(error))
        except Exception:
            log.exception("a run failed")
            run.fail("The run failed for a reason of our own; the server's log has the details.")
        finally:
            self.leave(run)

    def follow(self, run: Run, events: Iterator[dict]) -> None:
        """Put the run's events into its queue, until it ends, is stopped or has had its time."""
        trace = runner.new_trace()
        for event in events:
            runner.add_event(trace, event)
            if event["type"] == "header":
                run.deadline = time.monotonic() + self.limits.run_seconds
            if event["type"] != "end":
                run.events.put(event)
            if run.over():
                events.close()
                break
        if trace["end"] is None or trace["end"]["stopped"] == "stopped":
            stopped = ("stopped",) if run.stop.is_set() else ("time", self.limits.time_over())
            trace["end"] = runner.end(trace["iterations"], *stopped)
        run.finish(trace)

    def ready_pair(self, name: str, check: Callable[[], object]) -> Pair:
        """The pair, loaded now if it is not the one loaded last; `check` may raise Stopped while it is loading."""

        def tell(fraction: float, text: str) -> None:
            check()
            self.status = f"{text} ({fraction:.0%})"

        if self.loaded != name:
            self.release()
            try:
                self.pair = load_pair(name, tell)
                self.loaded = name
                self.status = "Starting the draft and measuring what both models cost on this machine"
                runner.prepare(self.pair, "duodecoding")
            finally:
                self.status = ""
        return self.pair

    def release(self) -> None:
        """Close the loaded pair's draft and free its memory."""
        if self.pair and (draft := self.pair.resources.get("draft")):
            draft.close()
        self.pair = self.loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def close(self) -> None:
        """End the run under way, the waiting ones and the draft process."""
        with self.lock:
            for run in self.line:
                run.stop.set()
        self.thread.shutdown(cancel_futures=True)
        self.release()
