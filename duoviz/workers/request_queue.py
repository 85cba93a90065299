"""A job, its events and how it ends; and the jobs that wait for a worker or run: a bounded queue, fair by address."""

import queue
import threading
import time
import uuid
from bisect import insort
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from duoviz.errors import UserError
from duoviz.workers.tasks import STOPPED, Task

SESSION_FULL = "{} of your runs are already waiting: stop one, or wait until it ends."
ADDRESS_FULL = "{} runs from your address are already waiting: try again in a few minutes."
QUEUE_IS_FULL = "The queue is full: try again in a few minutes."


class Client(NamedTuple):
    """Who asks. session: its name; of a request that names none, the address. address: None for the machine's user."""

    session: str
    address: str | None = None


def nobody() -> Client:
    """A client that shares no bounds with any other."""
    return Client(uuid.uuid4().hex)


@dataclass(eq=False, kw_only=True)
class Job:
    """A visitor's request to run a task. Its events are read from `events`; setting `stop` ends it.

    turn: its rank in the queue (see `RequestQueue.insert`). fetching: its models are being downloaded; other jobs
    overtake it. taken: a worker has it. status: what is done before it decodes. load_seconds, run_seconds: limits for
    making the models ready, and for decoding. begun: it decodes. deadline: when the limit of what it does now ends, on
    the monotonic clock. future: done when the job has ended. ended: its `end` event. error: why it failed, a sentence.
    context: of the request.
    """

    task: Task
    client: Client = field(default_factory=nobody)
    turn: int = 0
    fetching: bool = False
    taken: bool = False
    status: str = ""
    load_seconds: float = inf
    run_seconds: float = inf
    begun: bool = False
    deadline: float = inf
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)
    ended: dict | None = None
    error: str | None = None

    @property
    def owner(self) -> str:
        """Who takes turns with others: an address, or on one's own machine a session."""
        return self.client.address or self.client.session

    def take(self, event: dict) -> None:
        """Handle an event from the worker: update the job, or pass the event on to the visitor."""
        if event["type"] == "begun":
            self.deadline = time.monotonic() + self.run_seconds if self.task.timed else inf
            self.begun = True
            return
        if event["type"] == "end":
            self.ended = event
        elif event["type"] == "error":
            self.error = event["message"]
        self.events.put(event)

    def fail(self, message: str) -> None:
        """Let it end with a sentence for the visitor."""
        self.take({"type": "error", "message": message})

    def end(self) -> None:
        with suppress(InvalidStateError):  # It has ended before.
            self.future.set_result(None)

    def stop_reason(self) -> dict[str, str] | None:
        """Why it is to end, as the end of its run says it; None if it goes on."""
        if self.stop.is_set() or self.late():
            return STOPPED
        if time.monotonic() <= self.deadline:
            return None
        return {"stopped": "time", "message": f"Stopped: a run may take {self.run_seconds:g} seconds here."}

    def late(self) -> bool:
        """Whether its models should have been ready by now."""
        return not self.begun and time.monotonic() > self.deadline


class Bounds(NamedTuple):
    """Most jobs at a time. length: in the queue. session: of one visitor. address: of all visitors of one address.

    An address (a school's, say) also never holds more than it leaves free.
    """

    length: int = 80
    session: int = 2
    address: int = 40


class RequestQueue:
    """The jobs that have not ended, in the order in which they run. workers: how many run at once.

    A job whose models are being fetched counts against its visitor's bounds; others overtake it. changed: guards
    `jobs`, and is notified of each change.
    """

    def __init__(self, bounds: Bounds = Bounds(), workers: int = 1):
        self.bounds, self.workers = bounds, workers
        self.jobs: list[Job] = []
        self.changed = threading.Condition()

    def __len__(self) -> int:
        return len(self.jobs)

    def add(self, job: Job) -> None:
        """Append a job in its turn. Raises UserError."""
        with self.changed:
            self.check(job.client)
            self.insert(job)

    def check(self, client: Client) -> None:
        """Raise UserError if the visitor or its address has too many jobs, or the queue is full."""
        length, of_session, of_address = self.bounds
        clients = [job.client for job in self.jobs]
        mine = sum(other.session == client.session for other in clients)
        if mine >= of_session:
            raise UserError(SESSION_FULL.format(mine))
        if len(clients) >= length:
            raise UserError(QUEUE_IS_FULL)
        near = sum(other.address == client.address for other in clients) if client.address else 0
        if near and near >= min(of_address, length - len(clients)):
            raise UserError(ADDRESS_FULL.format(near))

    def waiting(self) -> list[Job]:
        """The jobs that a worker can take."""
        return [job for job in self.jobs if not job.fetching and not job.taken]

    def insert(self, job: Job) -> None:
        """Insert by start-time fair queuing (Goyal et al. 1996) between addresses, each job of the same length.

        A job's turn is one after its address's last, and not before that of the running jobs.
        """
        mine = [queued.turn + 1 for queued in self.jobs if queued.owner == job.owner]
        now = [queued.turn for queued in [job for job in self.jobs if job.taken] or self.waiting()[:1]]
        job.turn = max([0, *mine, *now])
        insort(self.jobs, job, key=lambda queued: queued.turn)
        self.changed.notify_all()

    def requeue(self, job: Job) -> None:
        """Insert a job anew once its models have been fetched."""
        with self.changed:
            job.fetching = False
            if job in self.jobs:
                self.jobs.remove(job)
                self.insert(job)

    def peek(self) -> Job | None:
        """The job for the next free worker; None if none waits."""
        with self.changed:
            return next(iter(self.waiting()), None)

    def ahead(self, job: Job) -> int:
        """How many jobs must end before this one begins."""
        with self.changed:
            if job.taken or job.fetching or job not in self.jobs:
                return 0
            ahead = [queued for queued in self.jobs[: self.jobs.index(job) + 1] if not queued.fetching]
            # An exclusive job occupies all workers.
            together = 1 if any(queued.task.exclusive for queued in ahead) else self.workers
            return max(0, len(ahead) - together)

    def remove(self, job: Job) -> None:
        """Take a job out of the queue."""
        with self.changed:
            if job in self.jobs:
                self.jobs.remove(job)
                self.changed.notify_all()
