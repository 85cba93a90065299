"""The one place on the hardware, and the line of visitors before it."""

import gc
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial

import torch

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.draft_worker import start_draft
from duoviz.decoding.iteration import Stopped
from duoviz.models import pairs
from duoviz.models.pairs import Pair
from duoviz.trace.metrics import metrics
from duoviz.web.jobs import Job
from duoviz.web.limits import Limits

# Visitors who may wait for the one place on the hardware.
QUEUE_LENGTH = 20

# Seconds from one batch to the next: at least, of a run under way, and at most, while there is nothing
# to tell. Each batch costs the run some 2 ms, for what sends it shares Python's lock with the decoding;
# but Gradio notices between two batches only that a visitor has left.
RUNNING_STEP = 0.055
WAITING_STEP = 0.25

# Target and draft are loaded at the same time.
load_pair = partial(pairs.load_pair, begin_draft=start_draft)

log = logging.getLogger(__name__)


class LineFull(RuntimeError):
    """Too many visitors wait already; the message is a sentence for the user."""


USER_ERRORS = (*runner.USER_ERRORS, LineFull)


def drain(events: queue.SimpleQueue) -> list[dict]:
    """All that is in the queue now."""
    taken = []
    while True:
        try:
            taken.append(events.get_nowait())
        except queue.Empty:
            return taken


class Hardware:
    """The one thread that loads pairs and decodes, and the line of jobs before it.

    torch keeps its threads and pins with the thread that calls it, so it is always the same one.
    Only that thread touches the loaded pair.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hardware")
        # The jobs that have not ended, in the order they came; the first is under way or about to be.
        self.line: list[Job] = []
        self.lock = threading.Lock()
        self.loaded: str | None = None
        self.pair: Pair | None = None
        self.status = ""
        self.settles = False

    def warm_up(self, name: str = "embedded") -> Future:
        """Begin to load a pair, so that the first visitor waits less, and measure better while nobody waits."""
        self.settles = True
        loading = self.thread.submit(self.ready_pair, name, bool)
        self.settle_later()
        return loading

    def start(self, job: Job) -> None:
        """Put a job into the line; `batches` gives its events. Raises one of USER_ERRORS."""
        self.limits.check_pair(job.pair)
        job.check_request()
        with self.lock:
            if len(self.line) > QUEUE_LENGTH:
                raise LineFull(f"{QUEUE_LENGTH} visitors are waiting already: try again in a few minutes.")
            self.line.append(job)
            job.future = self.thread.submit(self.work, job)

    def batches(self, job: Job) -> Iterator[list[dict]]:
        """The job's events as they come, in lists that may be empty; closing the generator stops the job.

        A job that is stopped before its decoding begins ends within `WAITING_STEP`, though the thread may
        be busy with its pair a while longer.
        """
        told, first = "", []
        try:
            while True:
                finished = job.future.done()
                events = first + drain(job.events)
                if job.stop.is_set() and job.deadline is None:
                    yield [{"type": "end", "end": runner.end([], "stopped"), "metrics": metrics(runner.new_trace())}]
                    return
                if (text := self.status_of(job)) != told:
                    told = text
                    events.insert(0, {"type": "status", "text": text})
                yield events
                if finished:
                    return
                first = self.next_event(job)
        finally:
            job.stop.set()
            self.leave(job)

    def next_event(self, job: Job) -> list[dict]:
        """Wait until there is something to tell, or for a while: the event that came first, if one did."""
        if self.before(job):
            job.stop.wait(WAITING_STEP)
        elif not wait([job.future], timeout=RUNNING_STEP).done:
            with suppress(queue.Empty):
                return [job.events.get(timeout=WAITING_STEP - RUNNING_STEP)]
        return []

    def status_of(self, job: Job) -> str:
        """What its visitor is told until its decoding begins; "" from then on."""
        if before := self.before(job):
            return f"Visitors before you: {before}. Your run starts when theirs have ended."
        return self.status

    def before(self, job: Job) -> int:
        """How many jobs are to end before this one begins."""
        with self.lock:
            return self.line.index(job) if job in self.line else 0

    def leave(self, job: Job) -> None:
        """Take a job out of the line."""
        with self.lock:
            if job in self.line:
                self.line.remove(job)

    def work(self, job: Job) -> None:
        """Do one job, on the hardware's thread."""
        try:
            job.check()
            pair = self.ready_pair(job.pair, job.check)
            job.check()
            pair.stopped = job.over
            self.follow(job, pair)
        except Stopped:
            pass  # Its decoding has not begun: the visitor has been told.
        except USER_ERRORS as error:
            job.fail(str(error))
        except Exception:
            log.exception("a job failed")
            job.fail("The run failed for a reason of our own; the server's log has the details.")
        finally:
            self.leave(job)
            self.settle_later()

    def settle_later(self) -> None:
        """Let the thread `settle` after what it has to do."""
        if self.settles:
            with suppress(RuntimeError):  # the thread is being shut down
                self.thread.submit(self.settle)

    def settle(self) -> None:
        """Measure once more what the loaded pair costs, as long as it helps and no job waits; on the hardware's thread."""

        def wanted() -> bool:
            return bool(self.line) or not self.settles

        if self.pair is None or wanted():
            return
        with suppress(Stopped, *USER_ERRORS):
            if any(runner.refine(self.pair, method, stopped=wanted) for method in METHODS):
                self.settle_later()

    def follow(self, job: Job, pair: Pair) -> None:
        """Let the job take its events, until it ends, is stopped or has had its time."""
        events = job.stream(pair)
        for event in events:
            if event["type"] == "header" and job.deadline is None:
                job.deadline = time.monotonic() + self.limits.run_seconds
            job.take(event)
            if job.over():
                events.close()
                break
        job.finish(pair, ("stopped",) if job.stop.is_set() else ("time", self.limits.time_over()))

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
        """End the job under way, the waiting ones and the draft process."""
        self.settles = False
        with self.lock:
            for job in self.line:
                job.stop.set()
        self.thread.shutdown(cancel_futures=True)
        self.release()
