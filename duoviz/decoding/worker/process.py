"""The draft in a process of its own, or in a thread of this one."""

import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import Array, c_int64, c_ulong
from multiprocessing.connection import Connection
from types import ModuleType

import numpy as np

from duoviz.decoding.worker.heartbeat import Heartbeat, keep_beating
from duoviz.decoding.worker.loop import serve
from duoviz.decoding.worker.protocol import DraftDied, DraftWorker
from duoviz.decoding.worker.waiting import WaitingDraft
from duoviz.models.cores import Cores
from duoviz.models.pair import LoadDraft

# Held while a process is started.
starting = threading.Lock()


class ProcessDraft(WaitingDraft):
    """A process, pinned to its own cores."""

    def __init__(self, load: LoadDraft, cores: Cores):
        """load: gives the model; it is called in the new process, which imports what it needs but the main module."""
        super().__init__()
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        beats, busy = context.RawValue(c_ulong), context.RawArray(c_int64, 1)
        self.heartbeat, self.busy = Heartbeat(beats), np.ctypeslib.as_array(busy)
        arguments = (theirs, beats, busy, pickle.dumps(load), cores)
        self.process = context.Process(target=serve_alone, args=arguments, daemon=True, name="duoviz-draft")
        with without_main():
            self.process.start()
        theirs.close()

    def died(self) -> DraftDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}): run again to start a new one.")

    @property
    def overdue(self) -> bool:
        return super().overdue or (self.owes and self.heartbeat.silent())

    def alive(self) -> bool:
        if not self.process.is_alive() or self.pipe.closed or self.overdue:
            return False
        # One that was stopped in the run before would keep this one waiting.
        return not self.owes or self.heartbeat.beats_again()

    def close(self) -> None:
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


@contextmanager
def without_main() -> Iterator[None]:
    """A process that is started meanwhile does not import the main module.

    It needs nothing of it, and could not import one that came through a pipe, nor use one without a guard, which would
    start processes of its own.
    """
    with starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def serve_alone(pipe: Connection, beats: c_ulong, busy: Array, load: bytes, cores: Cores) -> None:
    """What the process does; load: pickled, so that what it needs is imported where a failure is answered."""
    keep_beating(beats)
    os.environ["OMP_NUM_THREADS"] = str(len(cores.draft))
    serve(pipe, lambda: pickle.loads(load)(), cores, np.ctypeslib.as_array(busy))


class ThreadDraft(WaitingDraft):
    """A thread, where a process cannot be started; it cannot be killed, and ends after the request that it is in."""

    def __init__(self, load: LoadDraft, cores: Cores):
        super().__init__()
        self.pipe, theirs = multiprocessing.Pipe()
        self.busy = np.zeros(1, np.int64)
        self.thread = threading.Thread(target=serve, args=(theirs, load, cores, self.busy), daemon=True)
        self.thread.start()

    def died(self) -> DraftDied:
        self.close()
        return DraftDied("The draft's thread ended: run again to start a new one.")

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.pipe.closed and not self.overdue

    def close(self) -> None:
        self.pipe.close()


def start_draft(load: LoadDraft, cores: Cores) -> DraftWorker:
    """A draft process; in a daemonic parent, which may not have children, a thread."""
    kind = ThreadDraft if multiprocessing.current_process().daemon else ProcessDraft
    return kind(load, cores)
