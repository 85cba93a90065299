"""The line of jobs before the one place on the hardware: bounded, and fair between addresses."""

import threading
from bisect import insort

from duoviz.web.jobs import Job

# Jobs that may be in the line, and how many of one visitor. An address, behind which a class may sit, has as many
# places as it leaves to others.
QUEUE_LENGTH = 60
PLACES = 2
PLACES_TAKEN = f"{PLACES} of your runs are already waiting: stop one, or wait until it ends."
ADDRESS_TAKEN = "{} runs from your address are already waiting: try again in a few minutes."
LINE_TAKEN = "The line is full: try again in a few minutes."


class LineFull(RuntimeError):
    """There is no place for a job; the message is a sentence for the user."""


class Line:
    """The jobs that have not ended, in the order in which they run.

    The first of those that do not wait for their models is under way or about to be. `fetching`: of a job whose
    models are being fetched; it holds its place among the client's, and others go before it.
    """

    def __init__(self):
        self.jobs: list[Job] = []
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.jobs)

    def check(self, job: Job) -> None:
        """Raise LineFull where the job finds no place."""
        with self.lock:
            self.check_places(job)

    def add(self, job: Job) -> None:
        """Give the job a place. Raises LineFull."""
        with self.lock:
            self.check_places(job)
            self.place(job)

    def check_places(self, job: Job) -> None:
        """Raise LineFull where the visitor has all its places, its address has, or the line is full."""
        clients = [queued.client for queued in self.jobs if queued.client]
        if job.client and sum(client.session == job.client.session for client in clients) >= PLACES:
            raise LineFull(PLACES_TAKEN)
        if len(self.jobs) >= QUEUE_LENGTH:
            raise LineFull(LINE_TAKEN)
        address = job.client and job.client.address
        mine = sum(client.address == address for client in clients) if address else 0
        if mine and mine >= QUEUE_LENGTH - len(self.jobs):
            raise LineFull(ADDRESS_TAKEN.format(mine))

    def place(self, job: Job) -> None:
        """Let addresses take turns: start-time fair queuing (Goyal et al. 1996), each job as long as any other.

        A job's turn comes one after its address's last one, and not before the turn of the job under way.
        """
        mine = [queued.turn for queued in self.jobs if queued.owner == job.owner]
        now = [queued.turn for queued in self.jobs if not queued.fetching][:1]
        job.turn = max([0, *(turn + 1 for turn in mine), *now])
        insort(self.jobs, job, key=lambda queued: queued.turn)

    def come_back(self, job: Job) -> None:
        """A job whose models have been fetched is given a place anew."""
        with self.lock:
            job.fetching = False
            if job in self.jobs:
                self.jobs.remove(job)
                self.place(job)

    def first(self) -> Job | None:
        """The job that is to run now."""
        with self.lock:
            return next((queued for queued in self.jobs if not queued.fetching), None)

    def before(self, job: Job) -> int:
        """How many jobs are to end before this one begins."""
        with self.lock:
            ahead = [queued for queued in self.jobs if not queued.fetching]
            return ahead.index(job) if job in ahead else 0

    def leave(self, job: Job) -> None:
        """Take a job out of the line."""
        with self.lock:
            if job in self.jobs:
                self.jobs.remove(job)
