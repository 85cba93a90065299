"""The workers of one server: each takes the next job of the queue, and one that dies is replaced."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from duoviz.models.registry import needs_the_hub
from duoviz.workers.request_queue import Job, QueueFull, RequestQueue
from duoviz.workers.tasks import (
    INTERNAL,
    Assignment,
    Cancel,
    Exclusive,
    Fetch,
    Load,
    Task,
    WorkerDied,
    WorkerGone,
    WorkerHandle,
)

# Seconds between two looks whether a job is to end, and between two looks for workers that have died idle.
GLANCE, LOOK = 0.05, 1.0
# Seconds in which a cancelled assignment must end: before it decodes; and later, when a report may have to be written.
LETTING_GO, ENDING = 5.0, 60.0
# Seconds in which the jobs under way must end when all of it does.
CLOSING = 10.0
NO_WORKER = "No machine is left to run this: start the server again."
AGAIN = "{}. Start the run again; other runs go on."
WAITS = "Waiting until nothing else runs on this machine: what is measured has it to itself."

log = logging.getLogger(__name__)

Start = Callable[[], WorkerHandle]


class MachineLock:
    """Which workers of a machine compute: any number, or one alone. While one waits to be alone, no job begins.

    waiting: first those whose run measures before it goes on, then those whose whole job is done alone.
    """

    def __init__(self):
        self.sharing: set[WorkerSlot] = set()
        self.waiting: list[WorkerSlot] = []
        self.alone: WorkerSlot | None = None

    def is_open(self) -> bool:
        return not self.waiting and not self.alone

    def granted(self, slot: "WorkerSlot") -> bool:
        """Whether it has the machine alone, which the first that waits gets once no other computes."""
        if self.waiting and not self.sharing and not self.alone:
            self.alone = self.waiting.pop(0)
        return self.alone is slot

    def leave(self, slot: "WorkerSlot") -> None:
        self.sharing.discard(slot)
        self.waiting = [other for other in self.waiting if other is not slot]
        self.alone = None if self.alone is slot else self.alone


@dataclass(eq=False, kw_only=True)
class WorkerSlot:
    """A worker and what its thread knows of it. start: starts the worker. name: for results. machine: where it is.

    lock: its machine's, guarded by the queue's `changed`. job: what it does now. loaded, longest_prompt, memory: of the
    loaded pair. doing: what it does before decoding.
    broken: died while preloading; restarted only for the next job.
    """

    start: Start
    name: str = "place 1"
    machine: str = ""
    worker: WorkerHandle | None = None
    job: Job | None = None
    lock: MachineLock = field(default_factory=MachineLock)
    loaded: str | None = None
    longest_prompt: int | None = None
    memory: dict = field(default_factory=dict)
    doing: str = ""
    broken: bool = False

    @property
    def status(self) -> str:
        """The line shown to the job's visitor until decoding begins; "" afterwards."""
        return WAITS if self in self.lock.waiting else self.doing

    def alive(self) -> bool:
        return self.worker is not None and self.worker.alive()

    def forget(self) -> None:
        """Its pair is not loaded any more."""
        self.loaded, self.longest_prompt, self.memory = None, None, {}

    def discard(self) -> None:
        """End the worker."""
        if self.worker:
            self.worker.close()
        self.worker = None
        self.forget()


class Pool:
    """One thread for each worker. pair: what each worker loads before its first job, None for nothing.

    helper: starts a worker that fetches models from the hub beside the runs; None: each worker fetches its own.
    """

    def __init__(self, slots: Sequence[WorkerSlot], queue: RequestQueue, *, helper: Start | None = None):
        self.slots, self.queue, self.helper = list(slots), queue, helper
        locks: dict[str, MachineLock] = defaultdict(MachineLock)
        for slot in self.slots:
            slot.lock = locks[slot.machine]
        self.pair: str | None = None
        self.numbers = count(1)
        self.closed = False
        # One after another, so that a slow hub holds up only those who want models from it.
        self.fetcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fetcher")
        self.threads = [threading.Thread(target=self.serve, args=(slot,), daemon=True) for slot in self.slots]

    def start(self, pair: str | None = None) -> None:
        """Let the workers begin, with this pair."""
        self.pair = pair
        for thread in self.threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Put a job into the queue. Raises QueueFull."""
        if not self.slots:
            raise QueueFull(NO_WORKER)
        job.fetching = self.must_fetch(job, self.slots)
        self.queue.add(job)
        if job.fetching:
            self.fetcher.submit(self.fetch, job)

    def must_fetch(self, job: Job, slots: Sequence[WorkerSlot]) -> bool:
        """Whether the models must be fetched first: none of these workers has them, and files may be missing."""
        pair = job.task.pair
        known = job.sources is not None or any(slot.loaded == pair for slot in slots)
        return self.helper is not None and not known and needs_the_hub(pair)

    def fetch(self, job: Job) -> None:
        """Get the files of a job's models, on the fetcher's thread; then it waits in the queue."""
        assert self.helper
        slot = WorkerSlot(start=self.helper)
        self.do(slot, job, Fetch(pair=job.task.pair, spare=self.slots[0].memory))
        slot.discard()
        job.deadline = float("inf")
        if job.sources is None or job.stop.is_set():
            self.end(job)
        else:
            self.queue.requeue(job)

    def serve(self, slot: WorkerSlot) -> None:
        """What a worker's thread does: one job after another."""
        while job := self.take(slot):
            try:
                if self.must_fetch(job, [slot]):
                    # Its pair was loaded when it came, and has made room for another one since.
                    job.fetching, job.worker = True, ""
                    self.fetcher.submit(self.fetch, job)
                else:
                    self.do(slot, job, job.task)
                    self.end(job)
            except WorkerGone as error:
                log.warning("%s", error)
                return self.leave_out(slot, job)
            finally:
                with self.queue.changed:
                    slot.lock.leave(slot)
                    slot.job, slot.doing = None, ""
                    self.queue.changed.notify_all()
        slot.discard()

    def take(self, slot: WorkerSlot) -> Job | None:
        """Wait for the job that a free worker is to do; None when the pool closes."""
        with self.queue.changed:
            while not self.closed:
                if job := self.next_for(slot):
                    job.worker, slot.job = slot.name, job
                    slot.lock.waiting.append(slot) if job.task.exclusive else slot.lock.sharing.add(slot)
                    return job
                self.queue.changed.wait(LOOK)
        return None

    def next_for(self, slot: WorkerSlot) -> Job | None:
        """The next job, where this worker may and should do it."""
        if not slot.lock.is_open():
            return None
        if self.pair and not slot.broken and not slot.alive():
            return Job(task=Load(pair=self.pair))
        if not (job := self.queue.peek()):
            return None
        pair = job.task.pair
        free = [other for other in self.slots if other.job is None and other.loaded == pair and other.alive()]
        return None if free and slot not in free else job

    def granted(self, slot: WorkerSlot) -> bool:
        """Whether a worker has its machine alone; if it can have it now, it gets it."""
        with self.queue.changed:
            return slot.lock.granted(slot)

    def do(self, slot: WorkerSlot, job: Job, task: Task) -> None:
        """Let a worker do a job's task; what goes wrong ends the job with a sentence. Raises WorkerGone."""
        try:
            while task.exclusive and not self.granted(slot):
                if job.stop.wait(GLANCE):
                    return
            job.deadline = time.monotonic() + job.load_seconds
            if not slot.alive():
                slot.discard()
                slot.doing = "Starting"
                slot.worker = slot.start()
            # On ZeroGPU a worker finds there who asks.
            job.context.run(self.follow, slot, job, Assignment(next(self.numbers), task, job.sources))
            slot.broken = False
        except WorkerGone:
            raise
        except Exception as error:
            died = isinstance(error, WorkerDied)
            if not self.closed:
                log.warning("a worker has ended: %s", error, exc_info=None if died else error)
            slot.broken = isinstance(task, Load)
            slot.discard()
            job.fail(AGAIN.format(error) if died else INTERNAL)

    def follow(self, slot: WorkerSlot, job: Job, assignment: Assignment) -> None:
        """Send an assignment and handle its events until it ends; cancel it if the job must stop. Raises WorkerDied."""
        assert slot.worker
        worker, reason, cancelled_at, wanted = slot.worker, None, 0.0, False
        worker.send(assignment)
        while True:
            event = worker.receive(GLANCE)
            if reason is None and (reason := job.stop_reason()):
                cancelled_at = time.monotonic()
                worker.send(Cancel(assignment.number))
            if reason and time.monotonic() - cancelled_at > (ENDING if job.begun else LETTING_GO):
                raise WorkerDied("The process that ran this did not stop, and was ended")
            if event and event["type"] == "done":
                return
            if event:
                self.note(slot, job, explained(event, reason) if reason else event)
                wanted = wanted or event["type"] == "exclusive"
            if wanted and self.granted(slot):
                worker.send(Exclusive(assignment.number))
                wanted = False

    def note(self, slot: WorkerSlot, job: Job, event: dict) -> None:
        """Record what an event says about the worker; pass all others to the job."""
        kind = event["type"]
        if kind == "loading":
            slot.doing = job.progress = event["text"]
        elif kind == "ready":
            slot.loaded, slot.longest_prompt, slot.memory = event["pair"], event["longest_prompt"], event["memory"]
            slot.doing, job.deadline = "", float("inf")
        elif kind == "released":
            slot.forget()
        elif kind == "fetched":
            job.sources = event["sources"]
        elif kind in ("exclusive", "measured"):
            with self.queue.changed:
                if not job.task.exclusive:
                    slot.lock.leave(slot)
                    slot.lock.waiting.insert(0, slot) if kind == "exclusive" else slot.lock.sharing.add(slot)
                self.queue.changed.notify_all()
        else:
            job.take(event)

    def leave_out(self, slot: WorkerSlot, job: Job) -> None:
        """Go on without a worker whose machine has left; its job goes to another."""
        with self.queue.changed:
            self.slots.remove(slot)
            self.queue.workers = len(self.slots)
            job.worker = ""
            self.queue.changed.notify_all()
            stranded = [] if self.slots else list(self.queue.jobs)
        for job in stranded:
            job.fail(NO_WORKER)
            self.end(job)

    def leave(self, job: Job) -> None:
        """Stop a job; one that no worker has yet ends at once."""
        job.stop.set()
        with self.queue.changed:
            self.queue.remove(job)
            if not job.worker and not job.fetching:
                job.end()

    def end(self, job: Job) -> None:
        """Take a job that has ended out of the queue."""
        self.queue.remove(job)
        job.end()

    def close(self) -> None:
        """End the jobs under way, the waiting ones and the workers."""
        with self.queue.changed:
            self.closed = True
            jobs = [*self.queue.jobs, *(slot.job for slot in self.slots if slot.job)]
            self.queue.changed.notify_all()
        for job in jobs:
            job.stop.set()
        self.fetcher.shutdown(wait=False, cancel_futures=True)
        last = time.monotonic() + CLOSING
        for thread in self.threads:
            if thread.ident:
                thread.join(max(0.0, last - time.monotonic()))
        for slot in self.slots:
            slot.discard()
        for job in jobs:
            self.end(job)

    def longest_prompt(self, pair: str) -> int | None:
        """How many characters a prompt may have; None where no worker has loaded the pair."""
        return next((slot.longest_prompt for slot in self.slots if slot.loaded == pair), None)


def explained(event: dict, reason: dict[str, str]) -> dict:
    """An event of a job that was cancelled; the end of its run says why."""
    if event["type"] == "lane":
        return event | {"event": explained(event["event"], reason)}
    if event["type"] == "end" and event.get("end", {}).get("stopped") == "stopped":
        return event | {"end": event["end"] | reason}
    return event
