"""The draft in the caller's own thread."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.worker.loop import DraftLoop
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.decoding.worker.requests import ExpandRequest, PauseRequest, Request
from duoviz.models.language_model import LanguageModel


class InlineDraft(DraftWorker):
    """The draft in the caller's own thread, as methods use it that take turns: nothing overlaps, starts or ends."""

    def __init__(self, model: LanguageModel):
        self.model, self.loop, self.busy = model, DraftLoop(model), np.zeros(1, np.int64)
        self.request: Request
        self.expansions: Iterator[Expansion] = iter(())

    def submit(self, request: Request) -> None:
        self.request = request

    def ready(self) -> bool:
        return True

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        return None if isinstance(self.request, PauseRequest) else self.loop.handle(self.request, stopped=stopped)

    def expand(self, request: ExpandRequest) -> None:
        self.loop.move(request)
        self.expansions = self.loop.steps(request, bool)

    def expansion(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Expansion | None:
        return next(self.expansions, None)

    def alive(self) -> bool:
        return True
