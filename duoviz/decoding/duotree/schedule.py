"""When DuoTree's draft works: in turn with the target, or in parallel."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from duoviz.decoding.costs import Costs, step_times
from duoviz.decoding.duotree.draft_side import DraftSide, ExpandRequest
from duoviz.decoding.duotree.policy import WIDTHS, steady_width
from duoviz.decoding.duotree.tree import Expansion, Tree, TreeConfig, TreeNode
from duoviz.decoding.forward import Stopped
from duoviz.decoding.iteration import Span
from duoviz.models.language_model import LanguageModel

if TYPE_CHECKING:
    from duoviz.decoding.worker.process import ProcessDraft

# While the draft reads more tokens than this, the target goes on alone.
LONG_READ = 8
# Seconds that the end of a run waits for the draft to stop.
PAUSE = 1.0


class InTurn(DraftSide):
    """The draft works when it is asked to, on the target's cores. steps: the draft's in this iteration."""

    def __init__(self, model: LanguageModel, config: TreeConfig, stopped: Callable[[], bool]):
        super().__init__(model, config)
        self.stopped, self.steps = stopped, list[Span]()

    def widths(self, draft_seconds: Sequence[float]) -> Sequence[int]:
        """How many nodes the next step may forward; draft_seconds: T_draft(1), T_draft(2), …"""
        return WIDTHS if self.tree.config.trees else WIDTHS[:1]

    def step(self, width: int) -> bool:
        """One more step before the target works; whether there was one. Raises Stopped."""
        self.steps.append(self.grow(width, number=len(self.steps), stopped=self.stopped).span)
        return True

    def catch_up(self) -> None:
        """Take what the draft did meanwhile."""

    def close(self) -> None:
        """The run is over."""


class Beside:
    """As `InTurn`, but the draft grows its own tree on its own cores; the tree here is a copy of what it has sent."""

    def __init__(self, draft: "ProcessDraft", config: TreeConfig, costs: Costs, stopped: Callable[[], bool]):
        self.draft, self.tree, self.costs, self.stopped, self.unread = draft, Tree(config), costs, stopped, 0
        self.steps: list[Span] = []
        # Drops what an earlier run's tree would still give.
        draft.settle(stopped=stopped)

    def move(self, tokens: Sequence[int]) -> list[TreeNode]:
        config = None if self.tree.text else self.tree.config
        self.unread = len(tokens) + (0 if config or self.tree.expanded else self.unread)
        path = self.tree.move(tokens)
        draft_seconds = step_times(self.costs.model, len(self.tree.text))
        self.draft.append(ExpandRequest(tuple(tokens), tuple(draft_seconds), config))
        return path

    def widths(self, draft_seconds: Sequence[float]) -> Sequence[int]:
        """Empty while the draft reads a long text, or where it grows the tree no more."""
        if not self.tree.expanded and self.unread > LONG_READ:
            return ()
        width = steady_width(self.tree, draft_seconds)
        return (width,) if width else ()

    def step(self, width: int) -> bool:
        """Wait for the step under way. Raises DraftDied, Stopped."""
        expansion = self.draft.part(wait=True, stopped=self.stopped)
        if expansion:
            self.apply(expansion)
        return expansion is not None

    def apply(self, expansion: Expansion) -> None:
        self.tree.apply(expansion, step=len(self.steps))
        self.steps.append(expansion.span)

    def catch_up(self) -> None:
        while expansion := self.draft.part(wait=False):
            self.apply(expansion)

    def close(self) -> None:
        """Stop the draft, unless it is reading a text."""
        end = time.monotonic() + PAUSE
        with suppress(Stopped):
            self.draft.settle(stopped=lambda: time.monotonic() > end)
