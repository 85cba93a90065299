"""What decoding keeps with a loaded pair from one run to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from duoviz.models.pair import Pair

if TYPE_CHECKING:
    from duoviz.decoding.budget import CostModel
    from duoviz.decoding.datastore import Datastore
    from duoviz.decoding.draft_worker import Draft, InlineDraft


@dataclass(eq=False)
class Runtime:
    """draft: the one that works beside the target, started; draft_in_turn: the one in the target's process.

    costs: the cost models in force, calibrations: what they were made from, and factors: by how much the target's
    forwards took longer in each of the last runs; all by `calibration.costs_name`.
    datastores: REST's, by folder. delta: δ, once it was measured (see `rounding`). stopped: asked during long
    forwards whether the run is to end.
    """

    draft: Draft | None = None
    draft_in_turn: InlineDraft | None = None
    costs: dict[str, CostModel] = field(default_factory=dict)
    calibrations: dict[str, list[CostModel]] = field(default_factory=dict)
    factors: dict[str, deque[float]] = field(default_factory=dict)
    datastores: dict[Path, Datastore] = field(default_factory=dict)
    delta: float | None = None
    stopped: Callable[[], bool] = bool

    def close(self) -> None:
        """End the running draft."""
        if self.draft is not None:
            self.draft.close()


def runtime(pair: Pair) -> Runtime:
    """The pair's; made on the first call."""
    if pair.runtime is None:
        pair.runtime = Runtime()
    return pair.runtime
