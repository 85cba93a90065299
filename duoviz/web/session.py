"""The one place on the hardware, and the line of visitors before it."""

import gc
import logging
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress

import torch

from duoviz import runner
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.forward import Stopped
from duoviz.models.files import ModelFiles, fetch_pair
from duoviz.models.fit import check_room
from duoviz.models.progress import ModelUnavailable, part_of
from duoviz.models.registry import needs_the_hub
from duoviz.trace.metrics import metrics
from duoviz.web.calls import Door
from duoviz.web.jobs import Job
from duoviz.web.limits import Limits
from duoviz.web.line import Line, LineFull

# Seconds from one batch to the next: at least, of a run under way, and at most, while there is nothing
# to tell. Each batch costs the run some 2 ms, for what sends it shares Python's lock with the decoding, and a browser
# on the same processor 20 ms, to draw it; but Gradio notices between two batches only that a visitor has left.
RUNNING_STEP = 0.11
WAITING_STEP = 0.25
LONGEST_STEP = 1.0

# The share of a first start that goes by until the models are loaded; the rest goes into measuring them.
LOADING = 0.75
# Before that much of the whole is done, nothing can be said of how long the rest will take.
EARLIEST = 0.04


log = logging.getLogger(__name__)

USER_ERRORS = (*runner.USER_ERRORS, LineFull)


def progress_text(text: str, fraction: float, seconds: float) -> str:
    """What is being done, how much of the whole is done after so many seconds, and how long the rest will take."""
    if fraction < EARLIEST:
        return f"{text} ({fraction:.0%})"
    left = max(1, round(seconds * (1 - fraction) / fraction))
    return f"{text} ({fraction:.0%}, about {left} s left)"


def runs_ahead(number: int) -> str:
    """Of a visitor who waits, the place in the line."""
    return "One run ahead of yours; yours is next." if number == 1 else f"{number} runs ahead of yours."


def drain(events: queue.SimpleQueue) -> list[dict]:
    """All that is in the queue now."""
    taken = []
    while True:
        try:
            taken.append(events.get_nowait())
        except queue.Empty:
            return taken


class Hardware:
    """The one thread that loads pairs and decodes, the one that fetches them, and the line of jobs.

    torch keeps its threads and pins with the thread that calls it, so it is always the same one.
    Only that thread touches the loaded pair.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hardware")
        # Models are fetched beside the runs, so that a slow hub holds up only those who want them.
        self.fetcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fetcher")
        self.line = Line()
        # The endpoints by name; the pages open them.
        self.doors: dict[str, Door] = {}
        self.loaded: str | None = None
        self.engine: Engine | None = None
        self.status = ""

    def warm_up(self, name: str = "embedded") -> Future:
        """Begin to load a pair, so that the first visitor waits less."""
        return self.thread.submit(self.ready_engine, name, bool)

    def check(self, job: Job) -> None:
        """Raise one of USER_ERRORS for a job that cannot be started now."""
        self.limits.check_pair(job.pair)
        engine = self.engine
        job.check_request(self.limits, engine.pair if engine and self.loaded == job.pair else None)
        self.line.check(job)

    def start(self, job: Job) -> None:
        """Put a job into the line; `batches` gives its events. Raises one of USER_ERRORS."""
        self.check(job)
        job.fetching = self.must_fetch(job)
        self.line.add(job)
        self.go_on(job)

    def go_on(self, job: Job) -> None:
        """Hand a job to the thread that is to deal with it next."""
        if job.fetching:
            self.fetcher.submit(self.fetch, job)
        else:
            self.thread.submit(self.work)

    def must_fetch(self, job: Job) -> bool:
        """Whether the hub is to be asked for the job's models, which are neither loaded nor known to be here."""
        return job.sources is None and job.pair != self.loaded and needs_the_hub(job.pair)

    def batches(self, job: Job) -> Iterator[list[dict]]:
        """The job's events as they come, in lists that may be empty; closing the generator stops the job.

        A job that is stopped before its decoding begins ends within `WAITING_STEP`, though the thread may
        be busy with its pair a while longer.
        """
        status, first = "", []
        try:
            while True:
                if job.late():
                    job.fail(self.limits.load_time_over(job.pair))
                    self.end(job)
                finished = job.future.done()
                events = first + drain(job.events)
                if job.stop.is_set() and job.deadline is None:
                    yield [{"type": "end", "end": runner.end([], "stopped"), "metrics": metrics(runner.new_trace())}]
                    return
                if (text := self.status_of(job)) != status:
                    status = text
                    events.insert(0, {"type": "status", "text": text})
                yield events
                if finished:
                    return
                first = self.next_event(job)
        finally:
            job.stop.set()
            self.line.leave(job)

    def next_event(self, job: Job) -> list[dict]:
        """Wait until there is something to tell, or for a while: the event that came first, if one did."""
        if before := self.line.before(job):
            # What many who wait are sent takes time from the run.
            job.stop.wait(min(WAITING_STEP * before, LONGEST_STEP))
        elif not wait([job.future], timeout=RUNNING_STEP).done:
            with suppress(queue.Empty):
                return [job.events.get(timeout=WAITING_STEP - RUNNING_STEP)]
        return []

    def status_of(self, job: Job) -> str:
        """What its visitor is told until its decoding begins; "" from then on."""
        if job.fetching:
            return f"{job.progress or 'Waiting for the models'}. Others may run before you meanwhile."
        if before := self.line.before(job):
            busy = f" Now: {self.status}." if self.status else ""
            return f"{runs_ahead(before)}{busy}"
        return self.status

    def end(self, job: Job) -> None:
        """Take a job that has ended out of the line."""
        self.line.leave(job)
        with suppress(InvalidStateError):
            job.future.set_result(None)

    @contextmanager
    def ending_with_errors(self, job: Job) -> Iterator[None]:
        """A job that fails in here ends, and its visitor is told why."""
        try:
            yield
        except Stopped:
            self.end(job)  # Its decoding has not begun: the visitor has been told.
        except USER_ERRORS as error:
            job.fail(str(error))
            self.end(job)
        except Exception:
            log.exception("a job failed")
            job.fail("Internal error; the server's log has the details.")
            self.end(job)

    def fetch(self, job: Job) -> None:
        """Get the files of a job's models, on the fetcher's thread; then it waits in the line."""

        def tell(fraction: float, text: str) -> None:
            check()
            job.progress = f"{text} ({fraction:.0%})"

        with self.ending_with_errors(job):
            check = self.timed(job)
            check()
            check_room(job.pair, self.spare())
            job.sources = fetch_pair(job.pair, tell)
            job.ready_by = None
            self.line.come_back(job)
            self.go_on(job)

    def timed(self, job: Job) -> Callable[[], None]:
        """What ends the preparation of a job's models when its visitor says so or its time is over."""
        job.ready_by = time.monotonic() + self.limits.load_seconds

        def check() -> None:
            job.check()
            if job.late():
                raise ModelUnavailable(self.limits.load_time_over(job.pair))

        return check

    def work(self) -> None:
        """Do the job whose turn it is, on the hardware's thread."""
        if (job := self.line.first()) is None:
            return
        with self.ending_with_errors(job):
            job.check()
            if self.must_fetch(job):
                # Its pair was loaded when it came, and has made room for another one since.
                job.fetching = True
                return self.go_on(job)
            engine = self.ready_engine(job.pair, self.timed(job), job.sources)
            job.ready_by = None
            job.check()
            job.check_request(self.limits, engine.pair)
            self.follow(job, engine)
            self.end(job)

    def follow(self, job: Job, engine: Engine) -> None:
        """Let the job take its events, until it ends, is stopped or has had its time."""
        events = job.stream(engine)
        for event in events:
            if event["type"] == "header" and job.deadline is None:
                job.deadline = time.monotonic() + self.limits.run_seconds
            job.take(event)
            if job.over():
                events.close()
                break
        job.finish(engine, ("stopped",) if job.stop.is_set() else ("time", self.limits.time_over()))

    def ready_engine(
        self, name: str, check: Callable[[], object], sources: tuple[ModelFiles, ModelFiles] | None = None
    ) -> Engine:
        """The pair's engine, loaded now if it was not the last one; `check` may end the loading with an exception.

        sources: its files, where they have been fetched. A pair that does not fit leaves the other one loaded.
        """

        begin = time.monotonic()

        def tell(fraction: float, text: str) -> None:
            check()
            self.status = progress_text(text, fraction, time.monotonic() - begin)

        if self.loaded != name:
            check_room(name, self.spare())
            self.release()
            try:
                self.engine = load_engine(name, part_of(tell, 0.0, LOADING), sources, draft=True)
                self.loaded = name
                tell(LOADING, "Starting the draft and timing both models on this machine")
                runner.prepare(self.engine, "duodecoding")
            finally:
                self.status = ""
        assert self.engine is not None, "it is loaded"
        return self.engine

    def spare(self) -> dict[str, int]:
        """Bytes on each device that the loaded pair gives back when it makes room."""
        engine = self.engine
        return engine.pair.memory if engine else {}

    def release(self) -> None:
        """Close the loaded pair's draft and free its memory."""
        if self.engine:
            self.engine.close()
        self.engine = self.loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def close(self) -> None:
        """End the job under way, the waiting ones and the draft process."""
        for job in list(self.line.jobs):
            job.stop.set()
        self.fetcher.shutdown(wait=False, cancel_futures=True)
        self.thread.shutdown(cancel_futures=True)
        for job in list(self.line.jobs):
            self.end(job)
        self.release()
