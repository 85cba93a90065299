"""The line of jobs before the one place on the hardware: bounded, and two places a client at most."""

import threading

from duoviz.web.jobs import Job

# Visitors who may wait for the one place on the hardware.
QUEUE_LENGTH = 20
PLACES = 2
PLACES_TAKEN = (
    f"{PLACES} runs of yours, or from your address, are in the line already: "
    "wait until one of them has ended, or stop it."
)


class LineFull(RuntimeError):
    """There is no place for a job; the message is a sentence for the user."""


class Line:
    """The jobs that have not ended, in the order in which they run.

    The first of those that do not wait for their models is under way or about to be. `waits` of a job whose models
    are being fetched: it holds its place among the client's, and others go before it.
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
        """Give the job the last place. Raises LineFull."""
        with self.lock:
            self.check_places(job)
            self.jobs.append(job)

    def check_places(self, job: Job) -> None:
        for key in job.client:
            if sum(key in each.client for each in self.jobs) >= PLACES:
                raise LineFull(PLACES_TAKEN)
        if len(self.jobs) > QUEUE_LENGTH:
            raise LineFull(f"{QUEUE_LENGTH} visitors are waiting already: try again in a few minutes.")

    def come_back(self, job: Job) -> None:
        """A job whose models have been fetched waits behind all others."""
        with self.lock:
            job.fetching = False
            if job in self.jobs:
                self.jobs.remove(job)
                self.jobs.append(job)

    def before(self, job: Job) -> int:
        """How many jobs are to end before this one begins."""
        with self.lock:
            ahead = [each for each in self.jobs if not each.fetching]
            return ahead.index(job) if job in ahead else 0

    def leave(self, job: Job) -> None:
        """Take a job out of the line."""
        with self.lock:
            if job in self.jobs:
                self.jobs.remove(job)
