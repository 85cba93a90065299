"""Workers in processes of this machine: how many there are, and which cores each of them has."""

import multiprocessing
import os
import signal
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_ulong
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from duoviz.decoding.settings import whole
from duoviz.decoding.worker.heartbeat import Heartbeat, keep_beating
from duoviz.errors import UserError
from duoviz.models.bounds import expend, why_ended
from duoviz.models.cores import available_cores
from duoviz.outside import in_short
from duoviz.workers.pool import WorkerSlot
from duoviz.workers.tasks import WorkerDied

# Cores of a worker where the machine shares itself out: one for the draft, the others for the target.
CORES_A_WORKER = 3
AUTO = "auto"
# It is imported in the processes of workers, and not here: it loads a pair.
PRELOADED = "duoviz.workers.preloaded"
HANGS = "The process that ran this stopped answering"
# Held while a process is started: one whose parent ends before it has all that it needs complains.
starting = threading.RLock()


def shares(cores: Sequence[int], workers: int) -> list[list[int]]:
    """The cores of each worker: neighbours, and as many for each as can be."""
    edges = [len(cores) * number // workers for number in range(workers + 1)]
    return [list(cores[begin:end]) for begin, end in zip(edges, edges[1:], strict=False)]


def number_of_workers(chosen: str | None, cores: int) -> int:
    """How many workers so many cores have: `chosen` (a number or `auto`), or DUOVIZ_PLACES, or 1.

    Raises UserError.
    """
    text = (chosen or os.environ.get("DUOVIZ_PLACES") or "1").strip()
    if text == AUTO:
        return max(1, cores // CORES_A_WORKER)
    number = whole(text)
    if number is None or not 1 <= number <= cores:
        raise UserError(f"Workers: enter auto or 1 to {cores}, for each needs a core, not {in_short(text)}.")
    return number


def local_slots(chosen: str | None = None) -> list[WorkerSlot]:
    """This machine's workers, see `number_of_workers`. Raises UserError."""
    cores = available_cores()
    parts = shares(cores, number_of_workers(chosen, len(cores)))
    start = partial(LocalWorker, shares=len(parts) > 1)
    return [WorkerSlot(start=partial(start, part)) for part in parts]


class LocalWorker:
    """A process on these cores of the machine; load: of its `Worker`, None for that of real pairs.

    shares: whether it holds the first pair's weights together with others.
    """

    def __init__(self, cores: Sequence[int] = (), load: Any = None, *, shares: bool = False):
        # Not a daemon, which may have no children, and it starts the draft's process.
        context = multiprocessing.get_context("forkserver") if shares else multiprocessing.get_context("spawn")
        if shares:
            context.set_forkserver_preload([PRELOADED])
        self.pipe, theirs = context.Pipe()
        beats = context.RawValue(c_ulong)
        self.heartbeat, self.heard = Heartbeat(beats), False
        arguments = (theirs, beats, tuple(cores), load, shares)
        self.process = context.Process(target=serve_alone, args=arguments, name="duoviz-worker")
        with starting, uninterrupted():
            self.process.start()
        theirs.close()
        # Python waits at its end for processes that are no daemons.
        weakref.finalize(self, end_process, self.process)

    def send(self, message: Any) -> None:
        try:
            self.pipe.send(message)
        except OSError as error:
            raise self.died() from error

    def receive(self, seconds: float) -> dict | None:
        try:
            if self.pipe.poll(seconds):
                self.heard = True
                return self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error
        # While it imports what it needs, a thread may hold the process for long.
        if self.heard and self.heartbeat.silent():
            self.close()
            raise WorkerDied(HANGS)
        return None

    def died(self) -> WorkerDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return WorkerDied(why_ended(code))

    def alive(self) -> bool:
        return self.process.is_alive() and not self.pipe.closed

    def close(self) -> None:
        self.pipe.close()
        end_process(self.process)
        self.process.join(timeout=5)


def end_process(worker: BaseProcess) -> None:
    """End a worker's process, with all that it has started."""
    if worker.pid and worker.is_alive():
        with suppress(ProcessLookupError):  # It has no group yet.
            os.killpg(worker.pid, signal.SIGKILL)
        worker.kill()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """For starting a process: it never has the signals that a terminal sends to all that it shows."""
    sent = {signal.SIGINT, signal.SIGHUP}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, sent)
    try:
        # Started with the first process, it lets Ctrl+C through again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, sent)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def serve_alone(pipe: Connection, beats: c_ulong, cores: tuple[int, ...], load: Any, forked: bool) -> None:
    """What the process does, until whoever started it closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setpgrp()
    if cores:
        # Before torch is imported, which reads once how many threads it may have.
        os.sched_setaffinity(0, cores)
    keep_beating(beats)
    expend()
    from duoviz.workers.worker import Worker, serve

    if forked:
        from duoviz.workers.preloaded import load_preloaded as load_engine
    else:
        from duoviz.decoding.engine import load_engine
    serve(pipe, Worker(pipe.send, load or load_engine), gone=lambda: os._exit(0))
