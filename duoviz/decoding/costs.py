"""The cost model: seconds of a forward of each side, and how a run follows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duoviz.decoding.iteration import Span
from duoviz.decoding.settings import MAX_SEQUENCES

# At these numbers of rows and tokens before them a cost model has times.
ROW_COUNTS, CONTEXTS = (1, 2, 4, 8, 16, 32), (64, 512)
# How fast a run's costs follow what its forwards take.
WEIGHT = 0.1


@dataclass(frozen=True)
class CostModel:
    """Seconds of one forward, measured with both sides busy.

    target: [context][rows], at CONTEXTS and ROW_COUNTS; draft: [context][k - 1], k = 1..8.
    """

    target: tuple[tuple[float, ...], ...]
    draft: tuple[tuple[float, ...], ...]

    def target_time(self, rows: int | np.ndarray, context: int) -> Any:
        """T_target(rows), interpolated over rows and over the context's length; for one row count or an array.

        Beyond the rows that were measured it goes on as between the last two.
        """
        return between_contexts([between_rows(rows, times) for times in self.target], context)

    def draft_time(self, k: int, context: int) -> float:
        """T_draft(k): one step of k sequences."""
        return between_contexts([times[k - 1] for times in self.draft], context)


def between_rows(rows: int | np.ndarray, times: Sequence[float]) -> Any:
    """Linear in the rows, also beyond the most that were measured; never below the time of those."""
    before, last = ROW_COUNTS[-2:]
    slope = max(0.0, times[-1] - times[-2]) / (last - before)
    return np.interp(rows, ROW_COUNTS, times) + np.maximum(0, rows - last) * slope


def between_contexts(times: Sequence[Any], context: int) -> Any:
    """Linear in the context's length, also beyond the longer one measured; never below the shorter one's."""
    short, long = CONTEXTS
    return np.maximum(times[0], times[0] + (times[1] - times[0]) * (context - short) / (long - short))


def step_times(costs: "CostModel | LiveCosts", context: int) -> list[float]:
    """T_draft(1), T_draft(2), … T_draft(8)."""
    return [costs.draft_time(k, context) for k in range(1, MAX_SEQUENCES + 1)]


class LiveCosts:
    """A cost model that follows the run: one factor a side, so that γ does not jump with m."""

    def __init__(self, model: CostModel):
        self.model = model
        self.target_factor = self.draft_factor = 1.0

    def target_time(self, rows: int | np.ndarray, context: int) -> Any:
        """T_target(rows) as this run has it; see `CostModel`."""
        return self.model.target_time(rows, context) * self.target_factor

    def draft_time(self, k: int, context: int) -> float:
        """T_draft(k) as this run has it."""
        return self.model.draft_time(k, context) * self.draft_factor

    def observe(self, target: Span, draft: Sequence[Span], context: int) -> None:
        """Move both factors towards what an iteration took; forwards of many tokens (a prefill) say nothing."""
        if target.tokens <= ROW_COUNTS[-1]:
            ratio = target.seconds / self.model.target_time(target.tokens, context)
            self.target_factor = self.follow(self.target_factor, ratio)
        steps = [span for span in draft if span.tokens <= MAX_SEQUENCES]
        if steps:
            taken = sum(span.seconds for span in steps)
            expected = sum(self.model.draft_time(span.tokens, context) for span in steps)
            self.draft_factor = self.follow(self.draft_factor, taken / expected)

    @property
    def factors(self) -> tuple[float, float]:
        """Measured over calibrated time of the target's forwards and of the draft's steps."""
        return self.target_factor, self.draft_factor

    def follow(self, factor: float, ratio: float) -> float:
        """The factor, nearer to a ratio measured; one forward that was held up says little."""
        return factor + WEIGHT * (min(4.0, max(0.25, ratio)) - factor)
