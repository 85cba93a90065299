"""A draft behind a pipe: requests and answers are counted, and an answer has its time limit."""

import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.forward import Stopped
from duoviz.decoding.sampling import DraftNotFinite
from duoviz.decoding.worker.protocol import DraftDied, DraftWorker
from duoviz.decoding.worker.requests import EnoughRequest, Request

# Seconds. A start loads and quantises the model; an answer takes milliseconds, a very long prompt perhaps a minute.
# A process that is stopped meanwhile shows sooner (see `heartbeat`).
START_TIMEOUT = 300.0
ANSWER_TIMEOUT = 120.0
# How often a wait looks whether the run was stopped, in seconds.
GLANCE = 0.1


class WaitingDraft(DraftWorker):
    """What a draft in a thread and one in a process have in common; `pipe` leads to `loop.serve`."""

    pipe: Connection

    def __init__(self):
        self.started, self.submitted, self.answered, self.deadline = False, 0, 0, 0.0

    def died(self) -> DraftDied:
        """Close what is left of a draft that has ended; the error that says so."""
        raise NotImplementedError

    def wait_until_started(self) -> None:
        if self.started:
            return
        if not self.poll(START_TIMEOUT):
            self.close()
            raise DraftDied(f"The draft did not start within {START_TIMEOUT:.0f} seconds.")
        if complaint := self.receive():
            self.close()
            raise DraftDied(f"The draft could not be loaded: {complaint}.")
        self.started = True

    def submit(self, request: Request) -> None:
        self.wait_until_started()
        self.drop_answers(keep=0)
        self.expand(request)

    def expand(self, request: Request) -> None:
        if self.answered == self.submitted:
            self.expect_answer()
        self.send(request)
        self.submitted += 1

    def send(self, request: Request) -> None:
        self.busy[0] = True
        try:
            self.pipe.send(request)
        except OSError as error:
            raise self.died() from error

    def enough(self) -> None:
        if self.owes:
            self.send(EnoughRequest())

    def expansion(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Expansion | None:
        while self.answered < self.submitted:
            if not wait and not self.poll(0):
                return None
            self.wait(stopped)
            if (answer := self.take()) is not None:
                return checked(answer)
        return None

    def ready(self) -> bool:
        self.drop_answers(keep=1)
        if self.answered + 1 == self.submitted and self.poll(0):
            return True
        self.check_deadline()
        return False

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        answer = None
        while self.answered < self.submitted:
            self.wait(stopped)
            answer = self.take()
        return checked(answer)

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Until an answer is there. Raises DraftDied, and Stopped where `stopped` says so."""
        while not self.poll(GLANCE):
            if stopped():
                raise Stopped
            self.check_deadline()

    def poll(self, seconds: float) -> bool:
        """Whether an answer is there, or comes within these seconds."""
        try:
            return self.pipe.poll(seconds)
        except OSError as error:
            raise self.died() from error

    def receive(self) -> Any:
        """The next answer, or in a text why there is none."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error

    def drop_answers(self, *, keep: int) -> None:
        """Take the answers that are there, up to the last `keep` requests'."""
        while self.answered + keep < self.submitted and self.poll(0):
            self.take()

    def take(self) -> Any:
        """The next answer, counted."""
        answer = self.receive()
        # More will come: the request is not answered yet.
        self.answered += not isinstance(answer, Expansion)
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
        """Raise DraftDied where an answer is overdue."""
        if self.overdue:
            self.close()
            raise DraftDied("The draft stopped answering: run again to start a new one.")


def checked(answer: Any) -> Any:
    """An answer; raises DraftNotFinite, and DraftDied where it says what else went wrong."""
    if isinstance(answer, DraftNotFinite):
        raise answer
    if isinstance(answer, str):
        raise DraftDied(f"The draft failed: {answer}.")
    return answer
