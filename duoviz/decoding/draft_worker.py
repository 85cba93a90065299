"""The draft in its own process, fed by a pipe; or in a thread, or in the caller."""

import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from ctypes import c_ulong
from multiprocessing.connection import Connection
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.decoding.draft_loop import DraftLoop
from duoviz.decoding.draft_requests import Answer, GrowRequest, PauseRequest, Request, RowRequest
from duoviz.decoding.growing import Grown
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.pulse import Pulse, keep_beating
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import LoadDraft

# Seconds. A start loads and quantises the model; an answer takes milliseconds, a very long prompt perhaps a minute.
# A process that is stopped meanwhile shows sooner (see `pulse`).
START_TIMEOUT = 300.0
ANSWER_TIMEOUT = 120.0
# How often a wait looks whether the run was stopped, in seconds.
GLANCE = 0.1


class DraftDied(RuntimeError):
    """The draft cannot answer; the message is a sentence for the user."""


class Draft(Protocol):
    """A running draft: it works on one request at a time, apart from the caller."""

    def wait_until_started(self) -> None:
        """Wait until the model is loaded. Raises DraftDied."""
        ...

    def submit(self, request: Request) -> None:
        """Start on a request; what an earlier one would still give is dropped."""
        ...

    def ready(self) -> bool:
        """Whether `result` would answer at once. Raises DraftDied where the answer is long overdue."""
        ...

    def result(self, *, stopped: Callable[[], bool] = bool) -> Answer:
        """Wait for the answer to the last request. Raises DraftDied, and Stopped where `stopped` says so."""
        ...

    def grow(self, request: GrowRequest) -> None:
        """Go on with the tree of the `GrowRequest` before, whose last steps may still be told."""
        ...

    def grown(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Grown | None:
        """The next step's, None where none was told yet; wait: for the next one, None where the tree grows no more.

        Raises DraftDied, and Stopped where `stopped` says so.
        """
        ...

    def alive(self) -> bool:
        """Whether it is worth a request: not ended, and no answer long overdue."""
        ...

    def close(self) -> None: ...


class InlineDraft:
    """The draft in the caller's own thread, as methods use it that take turns: nothing overlaps."""

    def __init__(self, model: LanguageModel):
        self.loop = DraftLoop(model)
        self.request: Request | None = None
        self.growing: Iterator[Grown] = iter(())

    def wait_until_started(self) -> None:
        pass

    def submit(self, request: Request) -> None:
        self.request = request

    def ready(self) -> bool:
        return True

    def result(self, *, stopped: Callable[[], bool] = bool) -> Answer:
        return None if isinstance(self.request, PauseRequest) else self.loop.handle(self.request, stopped=stopped)

    def grow(self, request: GrowRequest) -> None:
        self.loop.move(request)
        self.growing = self.loop.steps(request, bool)

    def grown(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Grown | None:
        return next(self.growing, None)

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        pass


class WaitingDraft:
    """What thread and process share: requests and answers are counted, and an answer has its time limit.

    The subclass gives `wait_until_started()`, `send(request)`, `poll(seconds)` (whether an answer is there),
    `receive()`, `alive()` and `close()`.
    """

    def __init__(self):
        self.submitted = self.answered = 0
        self.deadline = 0.0

    def submit(self, request: Request) -> None:
        self.wait_until_started()
        self.drop_answers(keep=0)
        self.ask(request)

    def grow(self, request: GrowRequest) -> None:
        self.ask(request)

    def ask(self, request: Request) -> None:
        if self.answered == self.submitted:
            self.expect_answer()
        self.send(request)
        self.submitted += 1

    def grown(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Grown | None:
        while self.answered < self.submitted:
            while not self.poll(GLANCE if wait else 0):
                if not wait:
                    return None
                if stopped():
                    raise Stopped
                self.check_deadline()
            if (answer := self.take()) is not None:
                return checked(answer)
        return None

    def ready(self) -> bool:
        self.drop_answers(keep=1)
        if self.answered + 1 == self.submitted and self.poll(0):
            return True
        self.check_deadline()
        return False

    def result(self, *, stopped: Callable[[], bool] = bool) -> Answer:
        while self.answered < self.submitted:
            while not self.poll(GLANCE):
                if stopped():
                    raise Stopped
                self.check_deadline()
            answer = self.take()
        return checked(answer)

    def drop_answers(self, *, keep: int) -> None:
        """Take the answers that are there, up to the last `keep` requests'."""
        while self.answered + keep < self.submitted and self.poll(0):
            self.take()

    def take(self) -> Answer | str:
        answer = self.receive()
        # More will come: the request is not answered yet.
        self.answered += not isinstance(answer, Grown)
        self.expect_answer()
        return answer

    def expect_answer(self) -> None:
        """The next answer is due within the time limit from now."""
        self.deadline = time.monotonic() + ANSWER_TIMEOUT

    @property
    def owes(self) -> bool:
        """Whether there is a request without an answer, and none lies there."""
        return self.answered < self.submitted and not self.poll(0)

    @property
    def overdue(self) -> bool:
        """Whether the oldest unanswered request should have been answered long ago."""
        return self.owes and time.monotonic() > self.deadline

    def check_deadline(self) -> None:
        if self.overdue:
            self.close()
            raise DraftDied("The draft stopped answering; the next run starts a new one.")


class ThreadDraft(WaitingDraft):
    """The draft in a thread of this process, where a process cannot be started."""

    def __init__(self, load: LoadDraft, cores: tuple[int, ...]):
        super().__init__()
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.answers: queue.SimpleQueue = queue.SimpleQueue()
        self.waiting: list[Answer | str] = []
        self.loaded: Future = Future()
        self.closed = False
        self.thread = threading.Thread(target=self.run, args=(load, cores), daemon=True)
        self.thread.start()

    def run(self, load: LoadDraft, cores: tuple[int, ...]) -> None:
        with on_cores(cores):
            try:
                loop = DraftLoop(load())
                self.loaded.set_result(None)
            except Exception as error:
                self.loaded.set_exception(error)
                return
            while (request := self.requests.get()) is not None:
                for answer in answers_to(request, loop, lambda: not self.requests.empty()):
                    self.answers.put(answer)

    def wait_until_started(self) -> None:
        try:
            self.loaded.result(START_TIMEOUT)
        except Exception as error:
            self.close()
            raise DraftDied(f"The draft could not be loaded: {reason_of(error)}.") from error

    def send(self, request: Request) -> None:
        self.requests.put(request)

    def poll(self, seconds: float) -> bool:
        try:
            if not self.waiting:
                self.waiting.append(self.answers.get(block=seconds > 0, timeout=seconds))
            return True
        except queue.Empty:
            return False

    def receive(self) -> Answer | str:
        return self.waiting.pop()

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.closed and not self.overdue

    def close(self) -> None:
        """Let the thread end after the request it is in; a thread cannot be killed."""
        self.closed = True
        self.requests.put(None)


class ProcessDraft(WaitingDraft):
    """The draft in a process of its own, pinned to its own cores."""

    def __init__(self, load: LoadDraft, cores: tuple[int, ...]):
        """load: a picklable callable that gives the model; it is called in the new process."""
        super().__init__()
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        beats = context.RawValue(c_ulong)
        self.pulse = Pulse(beats)
        arguments = (theirs, beats, load, cores)
        self.process = context.Process(target=serve, args=arguments, daemon=True, name="duoviz-draft")
        self.process.start()
        theirs.close()
        self.started = False

    def wait_until_started(self) -> None:
        if not self.started:
            if not self.poll(START_TIMEOUT):
                self.close()
                raise DraftDied(f"The draft process did not start within {START_TIMEOUT:.0f} seconds.")
            if complaint := self.receive():
                self.close()
                raise DraftDied(f"The draft could not be loaded: {complaint}.")
            self.started = True

    def send(self, request: Request) -> None:
        try:
            self.pipe.send(request)
        except OSError as error:
            raise self.died() from error

    def poll(self, seconds: float) -> bool:
        try:
            return self.pipe.poll(seconds)
        except OSError as error:
            raise self.died() from error

    def receive(self) -> Answer | str:
        try:
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error

    def died(self) -> DraftDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}); the next run starts a new one.")

    @property
    def overdue(self) -> bool:
        return super().overdue or (self.owes and self.pulse.silent())

    def alive(self) -> bool:
        if not self.process.is_alive() or self.pipe.closed or self.overdue:
            return False
        # One that was stopped in the run before would keep this one waiting.
        return not self.owes or self.pulse.beats_again()

    def close(self) -> None:
        """End the process and release its pipe; safe to call twice."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


def row_of_draft(draft: Draft, vocabulary: int) -> Callable[[int], Tensor]:
    """A function that asks the draft for a row (see `RowRequest`) and widens it to the target's vocabulary."""

    def row_of(row: int) -> Tensor:
        draft.submit(RowRequest(row))
        q = torch.from_numpy(draft.result())
        return F.pad(q, (0, vocabulary - len(q)))

    return row_of


def answers_to(request: Request, loop: DraftLoop, waits: Callable[[], bool]) -> Iterator[Answer | str]:
    """The loop's answers (see there), or what went wrong."""
    try:
        yield from loop.answers(request, waits)
    except Exception as error:
        yield reason_of(error)


def checked(answer: Answer | str) -> Answer:
    """An answer; raises DraftDied where it says what went wrong."""
    if isinstance(answer, str):
        raise DraftDied(f"The draft failed: {answer}.")
    return answer


def reason_of(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def serve(pipe: Connection, beats: c_ulong, load: LoadDraft, cores: tuple[int, ...]) -> None:
    """The draft process: load the model, then answer requests until the pipe closes."""
    keep_beating(beats)
    os.environ["OMP_NUM_THREADS"] = str(len(cores))
    with on_cores(cores), torch.inference_mode():
        try:
            try:
                loop = DraftLoop(load())
            except Exception as error:
                pipe.send(reason_of(error))
                return
            pipe.send("")
            while True:
                for answer in answers_to(pipe.recv(), loop, pipe.poll):
                    pipe.send(answer)
        except (EOFError, OSError, KeyboardInterrupt):
            return


def start_draft(load: LoadDraft, cores: tuple[int, ...]) -> Draft:
    """A draft process; in a daemonic parent, which may not have children, a thread."""
    if multiprocessing.current_process().daemon:
        return ThreadDraft(load, cores)
    return ProcessDraft(load, cores)
