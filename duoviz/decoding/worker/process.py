"""The draft in a process of its own: requests and answers are counted, and a draft that stops beating is given up."""

import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import Array, c_int64, c_ulong
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import numpy as np
import torch

from duoviz.decoding.forward import Stopped
from duoviz.decoding.sampling import DraftNotFinite
from duoviz.decoding.worker.heartbeat import Heartbeat, keep_beating
from duoviz.decoding.worker.protocol import DraftDied, DraftState, Part, Request
from duoviz.errors import first_line
from duoviz.models.cores import Cores, on_cores
from duoviz.models.language_model import compile_leading
from duoviz.models.pair import LoadDraft

# Seconds in which a process loads and quantises the model.
START_TIMEOUT = 300.0
# How often a wait looks whether the run was stopped, or the draft, in seconds.
GLANCE = 0.1
# Held while a process is started.
starting = threading.Lock()


class ProcessDraft:
    """A `DraftWorker` in a process, pinned to its own cores, that works in parallel to the caller."""

    # Requests so far, the first of which is to load the model.
    submitted, answered = 1, 0

    def __init__(self, load: LoadDraft, cores: Cores):
        """load: gives the model; it is called in the new process, which imports what it needs but the main module."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        beats, busy = context.RawValue(c_ulong), context.RawArray(c_int64, 1)
        self.heartbeat, self.busy = Heartbeat(beats), np.ctypeslib.as_array(busy)
        arguments = (theirs, beats, busy, pickle.dumps(load), cores)
        self.process = context.Process(target=serve_alone, args=arguments, daemon=True, name="duoviz-draft")
        with free_start():
            self.process.start()
        theirs.close()

    def wait_until_started(self) -> None:
        """Wait until the model is loaded. Raises DraftDied."""
        if self.answered:
            return
        if not self.poll(START_TIMEOUT):
            self.close()
            raise DraftDied(f"The draft did not start within {START_TIMEOUT:.0f} seconds.")
        if complaint := self.take():
            self.close()
            raise DraftDied(f"The draft could not be loaded: {complaint}.")

    def submit(self, request: Request) -> None:
        self.wait_until_started()
        self.drop_answers(keep=0)
        self.append(request)

    def append(self, request: Request) -> None:
        """Start on a request; parts of earlier answers may still come."""
        self.send(request)
        self.submitted += 1

    def send(self, request: Request | None) -> None:
        self.busy[0] = True
        try:
            self.pipe.send(request)
        except OSError as error:
            raise self.died() from error

    def enough(self) -> None:
        """Let the request end with the step that it is in. Raises DraftDied."""
        if self.owes:
            self.send(None)

    def part(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Any:
        """The next part of an answer, None where none has come yet; wait: for one, None where none will come.

        Raises DraftDied, and Stopped where `stopped` says so.
        """
        while self.answered < self.submitted:
            if not wait and not self.poll(0):
                return None
            self.wait(stopped)
            if (answer := self.take()) is not None:
                return checked(answer)
        return None

    def ready(self) -> bool:
        """Whether `result` would answer at once. Raises DraftDied where the draft was stopped."""
        self.drop_answers(keep=1)
        if self.answered + 1 == self.submitted and self.poll(0):
            return True
        self.check_alive()
        return False

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        answer = None
        while self.answered < self.submitted:
            self.wait(stopped)
            answer = self.take()
        return checked(answer)

    def settle(self, *, stopped: Callable[[], bool] = bool) -> None:
        """Let the request end, and drop its answers. Raises Stopped where `stopped` says so."""
        # A fork on ZeroGPU may never have asked: then the answer that the model is loaded is for another one.
        if self.answered:
            with suppress(DraftDied, DraftNotFinite):
                self.enough()
                self.result(stopped=stopped)

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Until an answer is there. Raises DraftDied, and Stopped where `stopped` says so."""
        while not self.poll(GLANCE):
            if stopped():
                raise Stopped
            self.check_alive()

    def poll(self, seconds: float) -> bool:
        """Whether an answer is there, or comes within these seconds."""
        try:
            return self.pipe.poll(seconds)
        except OSError as error:
            raise self.died() from error

    def drop_answers(self, *, keep: int) -> None:
        """Take the answers that are there, up to the last `keep` requests'."""
        while self.answered + keep < self.submitted and self.poll(0):
            self.take()

    def take(self) -> Any:
        """The next answer, or an error message."""
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error
        self.answered += not isinstance(answer, Part)
        return answer

    @property
    def owes(self) -> bool:
        """Whether an answer is still to come, now that the model is loaded."""
        return 0 < self.answered < self.submitted and not self.poll(0)

    def check_alive(self) -> None:
        """Raise DraftDied where the process stopped before its answer."""
        if self.owes and self.heartbeat.silent():
            self.close()
            raise DraftDied("The draft stopped answering: run again to start a new one.")

    def died(self) -> DraftDied:
        """Close what is left of a draft that has ended; the error that says so."""
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}): run again to start a new one.")

    def alive(self) -> bool:
        """Whether it is worth a request: neither ended nor stopped."""
        # One that was stopped in the run before would keep this one waiting.
        return self.process.is_alive() and not self.pipe.closed and (not self.owes or self.heartbeat.beats_again())

    def close(self) -> None:
        """End it; safe to call twice."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


def checked(answer: Any) -> Any:
    """An answer; raises DraftNotFinite, and DraftDied for another error message."""
    if isinstance(answer, DraftNotFinite):
        raise answer
    if isinstance(answer, str):
        raise DraftDied(f"The draft failed: {answer}.")
    return answer


@contextmanager
def free_start() -> Iterator[None]:
    """A process that is started meanwhile does not import the main module, and a daemonic process may start it too.

    It needs nothing of the main module, and could not import one that came through a pipe, nor use one without a guard,
    which would start processes of its own. And it ends with its pipe, however its parent ends.
    """
    parent = multiprocessing.current_process()
    with starting:
        main, daemon = sys.modules["__main__"], parent.daemon
        sys.modules["__main__"] = ModuleType("__main__")
        if daemon:
            parent.daemon = False
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            if daemon:
                parent.daemon = True


def serve_alone(pipe: Connection, beats: c_ulong, busy: Array, load: bytes, cores: Cores) -> None:
    """What the process does; load: pickled, so that what it needs is imported where a failure is answered."""
    keep_beating(beats)
    os.environ["OMP_NUM_THREADS"] = str(len(cores.draft))
    serve(pipe, lambda: pickle.loads(load)(), cores, np.ctypeslib.as_array(busy))


def serve(pipe: Connection, load: LoadDraft, cores: Cores, busy: np.ndarray) -> None:
    """Load the model, then answer requests until the pipe closes; an error is answered by its message.

    busy: int64 [1], for others to see whether this works; who asks sets it, too. Where another program takes the
    draft's core, the draft goes on with one of the target's, which waits for it.
    """
    with (
        on_cores(cores.all, threads=len(cores.draft)),
        torch.inference_mode(),
        suppress(EOFError, OSError, KeyboardInterrupt),
    ):
        try:
            draft = DraftState(load())
            compile_leading()
        except Exception as error:
            return pipe.send(first_line(error))
        pipe.send("")
        while True:
            try:
                # The system likes to wake a process on the core of who wrote to it, who would then have to wait.
                with on_cores(cores.draft):
                    request = pipe.recv()
                busy[0] = True
                # None says that the request before was to end, because something waited.
                for answer in request.answers(draft, waits=pipe.poll, stopped=bool) if request else ():
                    pipe.send(answer)
            except (EOFError, OSError):
                raise
            except DraftNotFinite as error:
                pipe.send(error)
            except Exception as error:
                pipe.send(first_line(error))
            busy[0] = False
