"""The draft in the caller's own thread."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from duoviz.decoding.worker.protocol import DraftState, DraftWorker, Request
from duoviz.models.language_model import LanguageModel


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
