"""The jobs that wait for a worker or run: a bounded queue, fair between addresses."""

import threading
from bisect import insort
from typing import NamedTuple

from duoviz.errors import UserError
from duoviz.workers.jobs import Client, Job

SESSION_FULL = "{} of your runs are already waiting: stop one, or wait until it ends."
ADDRESS_FULL = "{} runs from your address are already waiting: try again in a few minutes."
QUEUE_IS_FULL = "The line is full: try again in a few minutes."


class QueueFull(UserError):
    """The queue does not accept a job; the message is a sentence for the user."""


class Bounds(NamedTuple):
    """Most jobs at a time. length: in the queue. session: of one visitor. address: of all visitors of one address.

    An address (a school's, say) also never holds more than it leaves free.
    """

    length: int = 80
    session: int = 2
    address: int = 40


# For jobs that no visitors start.
UNBOUNDED = Bounds(*[10**9] * 3)


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
        """Append a job in its turn. Raises QueueFull."""
        with self.changed:
            self.check(job.client)
            self.insert(job)

    def check(self, client: Client) -> None:
        """Raise QueueFull if the visitor or its address has too many jobs, or the queue is full."""
        length, of_session, of_address = self.bounds
        with self.changed:
            clients = [job.client for job in self.jobs]
        mine = sum(other.session == client.session for other in clients)
        if mine >= of_session:
            raise QueueFull(SESSION_FULL.format(mine))
        if len(clients) >= length:
            raise QueueFull(QUEUE_IS_FULL)
        near = sum(other.address == client.address for other in clients) if client.address else 0
        if near and near >= min(of_address, length - len(clients)):
            raise QueueFull(ADDRESS_FULL.format(near))

    def waiting(self) -> list[Job]:
        """The jobs that a worker can take."""
        return [job for job in self.jobs if not job.fetching and not job.worker]

    def insert(self, job: Job) -> None:
        """Insert by start-time fair queuing (Goyal et al. 1996) between addresses, each job of the same length.

        A job's turn is one after its address's last, and not before that of the running jobs.
        """
        mine = [queued.turn + 1 for queued in self.jobs if queued.owner == job.owner]
        now = [queued.turn for queued in [job for job in self.jobs if job.worker] or self.waiting()[:1]]
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
            if job.worker or job.fetching or job not in self.jobs:
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
