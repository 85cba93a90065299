"""The jobs that wait for a worker or run: a bounded queue, fair between addresses."""

import threading
from bisect import insort
from typing import NamedTuple

from duoviz.errors import UserError
from duoviz.workers.jobs import Job

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
    `jobs`; notified of each change.
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
            self.check(job)
            self.insert(job)

    def check(self, job: Job) -> None:
        """Raise QueueFull if the visitor or its address has too many jobs, or the queue is full."""
        length, of_session, of_address = self.bounds
        with self.changed:
            clients = [queued.client for queued in self.jobs if queued.client]
            waiting = len(self.jobs)
        mine = sum(client.session == job.client.session for client in clients) if job.client else 0
        if mine >= of_session:
            raise QueueFull(SESSION_FULL.format(mine))
        if waiting >= length:
            raise QueueFull(QUEUE_IS_FULL)
        address = job.client and job.client.address
        near = sum(client.address == address for client in clients) if address else 0
        if near and near >= min(of_address, length - waiting):
            raise QueueFull(ADDRESS_FULL.format(near))

    def insert(self, job: Job) -> None:
        """Insert by start-time fair queuing (Goyal et al. 1996) between addresses, each job of the same length.

        A job's turn is one after its address's last, and not before that of the running jobs.
        """
        mine = [queued.turn for queued in self.jobs if queued.owner == job.owner]
        waiting = [queued.turn for queued in self.jobs if not queued.fetching and not queued.taken][:1]
        now = [queued.turn for queued in self.jobs if queued.taken] or waiting
        job.turn = max([0, *(turn + 1 for turn in mine), *now])
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
            return next((queued for queued in self.jobs if not queued.fetching and not queued.taken), None)

    def ahead(self, job: Job) -> int:
        """How many jobs must end before this one begins."""
        with self.changed:
            ahead = [queued for queued in self.jobs if not queued.fetching]
            if job.taken or job not in ahead:
                return 0
            ahead = ahead[: ahead.index(job) + 1]
            # An exclusive job occupies all workers.
            together = 1 if any(queued.task.exclusive for queued in ahead) else self.workers
            return max(0, len(ahead) - together)

    def remove(self, job: Job) -> None:
        """Take a job out of the queue."""
        with self.changed:
            if job in self.jobs:
                self.jobs.remove(job)
                self.changed.notify_all()
