"""The draft in a process of its own, or in a thread of this one."""

import multiprocessing
import os
import threading
from ctypes import Array, c_int64, c_ulong
from multiprocessing.connection import Connection

import numpy as np

from duoviz.decoding.worker.loop import serve
from duoviz.decoding.worker.protocol import DraftDied, DraftWorker
from duoviz.decoding.worker.pulse import Pulse, keep_beating
from duoviz.decoding.worker.waiting import WaitingDraft
from duoviz.models.cores import Cores
from duoviz.models.pair import LoadDraft


class ProcessDraft(WaitingDraft):
    """A process, pinned to its own cores."""

    def __init__(self, load: LoadDraft, cores: Cores):
        """load: a picklable callable that gives the model; it is called in the new process."""
        super().__init__()
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        beats, busy = context.RawValue(c_ulong), context.RawArray(c_int64, 1)
        self.pulse, self.busy = Pulse(beats), np.ctypeslib.as_array(busy)
        arguments = (theirs, beats, busy, load, cores)
        self.process = context.Process(target=serve_alone, args=arguments, daemon=True, name="duoviz-draft")
        self.process.start()
        theirs.close()

    def died(self) -> DraftDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}): run again to start a new one.")

    @property
    def overdue(self) -> bool:
        return super().overdue or (self.owes and self.pulse.silent())

    def alive(self) -> bool:
        if not self.process.is_alive() or self.pipe.closed or self.overdue:
            return False
        # One that was stopped in the run before would keep this one waiting.
        return not self.owes or self.pulse.beats_again()

    def close(self) -> None:
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


def serve_alone(pipe: Connection, beats: c_ulong, busy: Array, load: LoadDraft, cores: Cores) -> None:
    """What the process does."""
    keep_beating(beats)
    os.environ["OMP_NUM_THREADS"] = str(len(cores.draft))
    serve(pipe, load, cores, np.ctypeslib.as_array(busy))


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
