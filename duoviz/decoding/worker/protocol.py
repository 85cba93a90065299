"""What a draft can be asked, what every running draft does, and the one in the caller's own thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from duoviz.errors import UserError
from duoviz.models.language_model import LanguageModel


class DraftDied(UserError):
    """The draft cannot answer; the message is a sentence for the user."""


class DraftState:
    """The draft's model, and what one request leaves for the next."""

    def __init__(self, model: LanguageModel):
        self.model = model
        self.kept: Any = None


class Request(Protocol):
    """What a draft is asked to do; it goes through a pipe to the process that does it."""

    def answers(self, draft: DraftState, *, waits: Callable[[], bool], stopped: Callable[[], bool]) -> Iterator[Any]:
        """Its answers, all but the last a `Part`. waits: whether another request is there, for which this one ends.

        Raises Stopped where `stopped` says so in a long forward.
        """
        ...


class Part:
    """An answer after which the same request gives more."""


class DraftWorker(Protocol):
    """A running draft, which works on one request at a time.

    busy: int64 [1], not 0 while it works in parallel to the caller.
    """

    busy: np.ndarray

    def wait_until_started(self) -> None:
        """Wait until the model is loaded. Raises DraftDied."""

    def submit(self, request: Request) -> None:
        """Start on a request; answers to earlier ones are dropped."""

    def append(self, request: Request) -> None:
        """Start on a request; parts of earlier answers may still come."""

    def ready(self) -> bool:
        """Whether `result` would answer at once. Raises DraftDied where the draft was stopped."""
        ...

    def enough(self) -> None:
        """Let the request end with the step that it is in. Raises DraftDied."""

    def settle(self, *, stopped: Callable[[], bool] = bool) -> None:
        """Let the request end, and drop its answers. Raises Stopped where `stopped` says so."""

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        """Wait for the answer to the last request. Raises DraftDied, and Stopped where `stopped` says so."""

    def part(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Any:
        """The next part of an answer, None where none has come yet; wait: for one, None where none will come.

        Raises DraftDied, and Stopped where `stopped` says so.
        """

    def alive(self) -> bool:
        """Whether it is worth a request: neither ended nor stopped."""
        ...

    def close(self) -> None:
        """End it; safe to call twice."""


class InlineDraft(DraftWorker):
    """The draft of methods that take turns: in the caller's own thread, so nothing overlaps, starts or ends."""

    def __init__(self, model: LanguageModel):
        self.model, self.state, self.busy = model, DraftState(model), np.zeros(1, np.int64)
        self.request: Request
        self.parts: Iterator[Any] = iter(())

    def submit(self, request: Request) -> None:
        self.request = request

    def append(self, request: Request) -> None:
        self.parts = request.answers(self.state, waits=bool, stopped=bool)

    def settle(self, *, stopped: Callable[[], bool] = bool) -> None:
        self.parts = iter(())

    def ready(self) -> bool:
        return True

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        return list(self.request.answers(self.state, waits=bool, stopped=stopped))[-1]

    def part(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Any:
        return next(self.parts, None)

    def alive(self) -> bool:
        return True
