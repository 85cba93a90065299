"""What every running draft does, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.worker.requests import ExpandRequest, Request, RowRequest
from duoviz.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


class DraftDied(UserError):
    """The draft cannot answer; the message is a sentence for the user."""


class DraftWorker(Protocol):
    """A running draft: it works on one request at a time, apart from the caller.

    busy: int64 [1], not 0 while it works on a request apart from the caller.
    """

    busy: np.ndarray

    def wait_until_started(self) -> None:
        """Wait until the model is loaded. Raises DraftDied."""

    def submit(self, request: Request) -> None:
        """Start on a request; what an earlier one would still give is dropped."""

    def ready(self) -> bool:
        """Whether `result` would answer at once. Raises DraftDied where the answer is long overdue."""
        ...

    def enough(self) -> None:
        """Let a `DraftRequest` end with the step that it is in. Raises DraftDied."""

    def result(self, *, stopped: Callable[[], bool] = bool) -> Any:
        """Wait for the answer to the last request. Raises DraftDied, and Stopped where `stopped` says so."""

    def expand(self, request: ExpandRequest) -> None:
        """Go on with the tree of the `ExpandRequest` before, whose last steps may still come."""

    def expansion(self, *, wait: bool, stopped: Callable[[], bool] = bool) -> Expansion | None:
        """The next step's, None where none has come yet; wait: for the next one, None where the tree grows no more.

        Raises DraftDied, and Stopped where `stopped` says so.
        """

    def alive(self) -> bool:
        """Whether it is worth a request: not ended, and no answer long overdue."""
        ...

    def close(self) -> None:
        """End it; safe to call twice."""


def row_of_draft(draft: DraftWorker, vocabulary: int) -> Callable[[int], Tensor]:
    """A function that asks the draft for a row (see `RowRequest`) and widens it to the target's vocabulary."""

    def row_of(row: int) -> Tensor:
        from torch import from_numpy

        draft.submit(RowRequest(row))
        return from_numpy(np.pad(q := draft.result(), (0, vocabulary - len(q))))

    return row_of
