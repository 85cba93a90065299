"""Workers in threads of the test's own process, so that a test can look into them and change what they do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from unittest import mock

from duoviz.decoding.engine import Engine
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import RequestQueue
from duoviz.workers.tasks import WorkerDied
from duoviz.workers.worker import Worker, serve
from tests.tiny import tiny_engine

Load = Callable[..., Engine]


class ThreadWorker:
    """A `WorkerHandle` of a thread. load: called as `load_engine` is."""

    def __init__(self, load: Load):
        self.pipe, theirs = Pipe()
        self.worker = Worker(theirs.send, load)
        self.thread = threading.Thread(target=self.serve, args=(theirs,), daemon=True)
        self.thread.start()

    def serve(self, pipe) -> None:
        serve(pipe, self.worker)
        pipe.close()

    def send(self, message) -> None:
        try:
            self.pipe.send(message)
        except OSError as error:
            raise WorkerDied("The thread ended") from error

    def receive(self, seconds: float) -> dict | None:
        try:
            return self.pipe.recv() if self.pipe.poll(seconds) else None
        except (EOFError, OSError) as error:
            raise WorkerDied("The thread ended") from error

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.pipe.closed

    def close(self) -> None:
        self.pipe.close()
        self.thread.join(10)


def hardware_with(load: Load = lambda name, progress: tiny_engine(), *, workers: int = 1, **limits) -> Hardware:
    """Hardware of such workers, with these limits. load: called with a pair's name and a progress."""

    def start() -> ThreadWorker:
        return ThreadWorker(lambda name, progress, *, draft: load(name, progress))

    limits = Limits(**limits)
    slots = [WorkerSlot(start=start) for _ in range(workers)]
    return Hardware(limits, Pool(slots, RequestQueue(limits.bounds, workers), helper=start))


def worker_of(hardware: Hardware, number: int = 0) -> Worker:
    return hardware.pool.slots[number].worker.worker


@contextmanager
def nothing_to_fetch() -> Iterator[None]:
    """Every pair has room and its files here."""
    with (
        mock.patch("duoviz.workers.worker.check_room", lambda name, spare: None),
        mock.patch("duoviz.workers.worker.fetch_pair", lambda name, progress: ()),
    ):
        yield
