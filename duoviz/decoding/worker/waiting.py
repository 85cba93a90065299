"""A draft that works apart from the caller: requests and answers are counted, and an answer has its time limit."""

import time
from collections.abc import Callable
from typing import Any

from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.forward import Stopped
from duoviz.decoding.worker.protocol import DraftDied, DraftWorker, checked
from duoviz.decoding.worker.requests import ExpandRequest, Request

# Seconds. A start loads and quantises the model; an answer takes milliseconds, a very long prompt perhaps a minute.
# A process that is stopped meanwhile shows sooner (see `pulse`).
START_TIMEOUT = 300.0
ANSWER_TIMEOUT = 120.0
# How often a wait looks whether the run was stopped, in seconds.
GLANCE = 0.1


class WaitingDraft(DraftWorker):
    """What thread and process have in common; a subclass starts and ends it, and carries the messages."""

    def send(self, request: Request) -> None:
        raise NotImplementedError

    def poll(self, seconds: float) -> bool:
        """Whether an answer is there, or comes within these seconds."""
        raise NotImplementedError

    def receive(self) -> Any:
        """The next answer, or in a text why there is none."""
        raise NotImplementedError

    def __init__(self):
        self.submitted = self.answered = 0
        self.deadline = 0.0

    def submit(self, request: Request) -> None:
        self.wait_until_started()
        self.drop_answers(keep=0)
        self.ask(request)

    def expand(self, request: ExpandRequest) -> None:
        self.ask(request)

    def ask(self, request: Request) -> None:
        if self.answered == self.submitted:
            self.expect_answer()
        self.send(request)
        self.submitted += 1

    def expansion(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Expansion | None:
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

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
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

    def take(self) -> Any:
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
        if self.overdue:
            self.close()
            raise DraftDied("The draft stopped answering; the next run starts a new one.")
