"""The workers of one server: each takes the next job of the queue, and one that dies is replaced."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from math import inf

from duoviz.errors import INTERNAL, UserError
from duoviz.models.registry import needs_the_hub
from duoviz.workers.request_queue import Job, RequestQueue
from duoviz.workers.tasks import Assignment, Cancel, Exclusive, Fetch, Load, Task, WorkerDied, WorkerGone, WorkerHandle

# Seconds between two looks whether a job is to end, and between two looks for workers that have died idle.
GLANCE, LOOK = 0.05, 1.0
# Seconds in which a cancelled assignment must end: before it decodes; and later, when a report may have to be written.
LETTING_GO, ENDING = 5.0, 60.0
# Seconds in which the jobs under way must end when all of it does.
CLOSING = 10.0
NO_WORKER = "No machine is left to run this: start the server again."
AGAIN = "{}. Start the run again; other runs go on."
WAITING = "Waiting until nothing else runs on this machine: what is measured has it to itself."
# How a worker uses its machine: beside others, not yet, or alone. While one waits to be alone, no other job begins.
SHARES, WAITS, ALONE = "shares", "waits", "alone"

log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class WorkerSlot:
    """A worker and what its thread knows of it. start: starts the worker. machine: where it is.

    job: what it does now. use: of its machine while it has a job, guarded by the queue's `changed`. loaded, memory:
    of the pair that it had ready last. broken: died while preloading; restarted only for the next job.
    """

    start: Callable[[], WorkerHandle]
    machine: str = ""
    worker: WorkerHandle | None = None
    job: Job | None = None
    use: str = SHARES
    loaded: str | None = None
    memory: dict = field(default_factory=dict)
    broken: bool = False

    @property
    def status(self) -> str:
        """The line shown to the job's visitor until decoding begins; "" afterwards."""
        return WAITING if self.use == WAITS else self.job.status if self.job else ""

    def alive(self) -> bool:
        return self.worker is not None and self.worker.alive()

    def discard(self) -> None:
        """End the worker."""
        if self.worker:
            self.worker.close()
        self.worker, self.loaded, self.memory = None, None, {}


class Pool:
    """One thread for each worker. pair: what each worker loads before its first job, None for nothing.

    helper: starts a worker that fetches models from the hub beside the runs; None: each worker fetches its own.
    """

    def __init__(
        self, slots: Sequence[WorkerSlot], queue: RequestQueue, *, helper: Callable[[], WorkerHandle] | None = None
    ):
        self.slots, self.queue, self.helper = list(slots), queue, helper
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
        """Put a job into the queue; models that no worker has are fetched first. Raises UserError."""
        if not self.slots:
            raise UserError(NO_WORKER)
        pair = job.task.pair
        job.fetching = bool(self.helper and needs_the_hub(pair) and pair not in (slot.loaded for slot in self.slots))
        self.queue.add(job)
        if job.fetching:
            self.fetcher.submit(self.fetch, job)

    def fetch(self, job: Job) -> None:
        """Get the files of a job's models, on the fetcher's thread; then it waits in the queue."""
        assert self.helper
        slot = WorkerSlot(start=self.helper, job=job)
        self.do(slot, job, Fetch(pair=job.task.pair, spare=self.slots[0].memory))
        slot.discard()
        if job.error or job.stop.is_set() or job.late():
            self.end(job)
        else:
            job.deadline, job.status = inf, ""
            self.queue.requeue(job)

    def serve(self, slot: WorkerSlot) -> None:
        """What a worker's thread does: one job after another."""
        while job := self.take(slot):
            try:
                self.do(slot, job, job.task)
                self.end(job)
            except WorkerGone as error:
                log.warning("%s", error)
                return self.leave_out(slot, job)
            finally:
                with self.queue.changed:
                    slot.job, slot.use = None, SHARES
                    self.queue.changed.notify_all()
        slot.discard()

    def take(self, slot: WorkerSlot) -> Job | None:
        """Wait for the job that a free worker is to do; None when the pool closes."""
        with self.queue.changed:
            while not self.closed:
                if job := self.next_for(slot):
                    job.taken, slot.job = True, job
                    slot.use = WAITS if job.task.exclusive else SHARES
                    return job
                self.queue.changed.wait(LOOK)
        return None

    def next_for(self, slot: WorkerSlot) -> Job | None:
        """The next job, where this worker may and should do it."""
        if any(other.use != SHARES for other in self.busy_on(slot.machine)):
            return None
        if self.pair and not slot.broken and not slot.alive():
            return Job(task=Load(pair=self.pair))
        if not (job := self.queue.peek()):
            return None
        pair = job.task.pair
        free = [other for other in self.slots if other.job is None and other.loaded == pair and other.alive()]
        return None if free and slot not in free else job

    def busy_on(self, machine: str) -> list[WorkerSlot]:
        return [slot for slot in self.slots if slot.job and slot.machine == machine]

    def is_alone(self, slot: WorkerSlot) -> bool:
        """Whether a worker has its machine to itself; where none computes, the first that waits gets it."""
        with self.queue.changed:
            busy = self.busy_on(slot.machine)
            if all(other.use == WAITS for other in busy):
                # What measures before it goes on comes before what does its whole job alone.
                min(busy, key=lambda other: bool(other.job and other.job.task.exclusive)).use = ALONE
            return slot.use == ALONE

    def do(self, slot: WorkerSlot, job: Job, task: Task) -> None:
        """Let a worker do a job's task; what goes wrong ends the job with a sentence. Raises WorkerGone."""
        try:
            while task.exclusive and not self.is_alone(slot):
                if job.stop.wait(GLANCE):
                    return
            job.deadline = time.monotonic() + job.load_seconds
            if not slot.alive():
                slot.discard()
                job.status = "Starting"
                slot.worker = slot.start()
            # On ZeroGPU a worker finds there who asks.
            job.context.run(self.follow, slot, job, Assignment(next(self.numbers), task))
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
            if wanted and self.is_alone(slot):
                worker.send(Exclusive(assignment.number))
                wanted = False

    def note(self, slot: WorkerSlot, job: Job, event: dict) -> None:
        """Record what an event says about the worker; pass all others to the job."""
        kind = event["type"]
        if kind == "loading":
            job.status = event["text"]
        elif kind == "ready":
            slot.loaded, slot.memory = event["pair"], event["memory"]
            job.status, job.deadline = "", inf
        elif kind in ("exclusive", "measured"):
            with self.queue.changed:
                if not job.task.exclusive:
                    slot.use = WAITS if kind == "exclusive" else SHARES
                self.queue.changed.notify_all()
        else:
            job.take(event)

    def leave_out(self, slot: WorkerSlot, job: Job) -> None:
        """Go on without a worker whose machine has left; its job goes to another."""
        with self.queue.changed:
            self.slots.remove(slot)
            self.queue.workers = len(self.slots)
            job.taken = False
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
            if not job.taken and not job.fetching:
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


def explained(event: dict, reason: dict[str, str]) -> dict:
    """An event of a job that was cancelled; the end of its run says why."""
    if event["type"] == "lane":
        return event | {"event": explained(event["event"], reason)}
    if event["type"] == "end" and event.get("end", {}).get("stopped") == "stopped":
        return event | {"end": event["end"] | reason}
    return event
