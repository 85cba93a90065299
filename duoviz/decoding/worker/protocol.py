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

    def submit(self, request: Request) -> None:
        """Start on a request; answers to earlier ones are dropped."""

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        """Wait for the answer to the last request. Raises DraftDied, and Stopped where `stopped` says so."""


class InlineDraft:
    """The draft of methods that take turns: in the caller's own thread, so nothing overlaps, starts or ends."""

    def __init__(self, model: LanguageModel):
        self.model, self.state, self.busy = model, DraftState(model), np.zeros(1, np.int64)
        self.request: Request

    def submit(self, request: Request) -> None:
        self.request = request

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        return list(self.request.answers(self.state, waits=bool, stopped=stopped))[-1]
