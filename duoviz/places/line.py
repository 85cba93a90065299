"""The line of jobs before the places: bounded, and fair between addresses."""

import threading
from bisect import insort
from typing import NamedTuple

from duoviz.errors import UserError
from duoviz.places.jobs import Job

PLACES_TAKEN = "{} of your runs are already waiting: stop one, or wait until it ends."
ADDRESS_TAKEN = "{} runs from your address are already waiting: try again in a few minutes."
LINE_TAKEN = "The line is full: try again in a few minutes."


class LineFull(UserError):
    """There is no place for a job; the message is a sentence for the user."""


class Bounds(NamedTuple):
    """length: jobs that may be in the line. session: of one visitor; address: of all visitors of one address.

    An address, behind which a class may sit, has at most as many as it leaves to others.
    """

    length: int = 80
    session: int = 2
    address: int = 40


# For jobs that no visitors start.
UNBOUNDED = Bounds(*[10**9] * 3)


class Line:
    """The jobs that have not ended, in the order in which they run; places: how many run at once.

    Those that places do come first. `fetching`: of a job whose models are being fetched; it holds its place among the
    client's, and others go before it. changed: held for each look, and notified of each change.
    """

    def __init__(self, bounds: Bounds = Bounds(), places: int = 1):
        self.bounds, self.places = bounds, places
        self.jobs: list[Job] = []
        self.changed = threading.Condition()

    def __len__(self) -> int:
        return len(self.jobs)

    def add(self, job: Job) -> None:
        """Give the job a place. Raises LineFull."""
        with self.changed:
            self.check(job)
            self.place(job)

    def check(self, job: Job) -> None:
        """Raise LineFull where the visitor has all its places, its address has, or the line is full."""
        length, of_session, of_address = self.bounds
        with self.changed:
            clients = [queued.client for queued in self.jobs if queued.client]
            waiting = len(self.jobs)
        mine = sum(client.session == job.client.session for client in clients) if job.client else 0
        if mine >= of_session:
            raise LineFull(PLACES_TAKEN.format(mine))
        if waiting >= length:
            raise LineFull(LINE_TAKEN)
        address = job.client and job.client.address
        near = sum(client.address == address for client in clients) if address else 0
        if near and near >= min(of_address, length - waiting):
            raise LineFull(ADDRESS_TAKEN.format(near))

    def place(self, job: Job) -> None:
        """Let addresses take turns: start-time fair queuing (Goyal et al. 1996), each job as long as any other.

        A job's turn comes one after its address's last one, and not before the turn of the jobs under way.
        """
        mine = [queued.turn for queued in self.jobs if queued.owner == job.owner]
        waiting = [queued.turn for queued in self.jobs if not queued.fetching and not queued.taken][:1]
        now = [queued.turn for queued in self.jobs if queued.taken] or waiting
        job.turn = max([0, *(turn + 1 for turn in mine), *now])
        insort(self.jobs, job, key=lambda queued: queued.turn)
        self.changed.notify_all()

    def come_back(self, job: Job) -> None:
        """A job whose models have been fetched is given a place anew."""
        with self.changed:
            job.fetching = False
            if job in self.jobs:
                self.jobs.remove(job)
                self.place(job)

    def first(self) -> Job | None:
        """The job that the next free place is to do."""
        with self.changed:
            return next((queued for queued in self.jobs if not queued.fetching and not queued.taken), None)

    def before(self, job: Job) -> int:
        """How many jobs are to end before this one begins."""
        with self.changed:
            ahead = [queued for queued in self.jobs if not queued.fetching]
            if job.taken or job not in ahead:
                return 0
            ahead = ahead[: ahead.index(job) + 1]
            # One that runs alone takes all places.
            together = 1 if any(queued.work.alone for queued in ahead) else self.places
            return max(0, len(ahead) - together)

    def leave(self, job: Job) -> None:
        """Take a job out of the line."""
        with self.changed:
            if job in self.jobs:
                self.jobs.remove(job)
                self.changed.notify_all()
