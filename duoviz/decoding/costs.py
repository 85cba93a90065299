"""What the forwards of both sides cost: a table of seconds, and its estimate from every forward that runs."""

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log1p
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from duoviz.decoding.settings import MAX_SEQUENCES

# At these numbers of rows and tokens before them a cost model has times.
ROW_COUNTS, CONTEXTS = (1, 2, 4, 8, 16, 32), (64, 512)
WIDTHS = tuple(range(1, MAX_SEQUENCES + 1))
# An estimate keeps them at these contexts: what a long text adds does not follow from the little that 512 tokens do.
LEARNT = 64, 4096

# The machine's speed is the median of the LAST forwards', so that a few outliers say nothing; whether it is busy, and
# which cores are faster, the median of STEADY says, so that a second of other work does not. A forward's own time
# moves by OWN (at both contexts) of what it took longer than expected at that speed, or of FAR (log seconds), less the
# moving average of that, in which a forward weighs COMMON: else times that scatter more to one side would move what
# runs away from what does not.
LAST, STEADY, OWN, FAR, COMMON = 7, 31, (0.1, 0.3), 0.2, 0.05
# After so many seconds without a forward the last ones say nothing of the machine's speed now.
LATELY = 10.0
# How much longer a forward takes at the longer context before one was measured, and each of its rows more.
LONGER, EACH = 0.4, 0.035
# Above this slowdown the machine counts as busy with other work; and the share by which each forward moves the baseline
# towards a slower speed.
BUSY, FORGETTING = 1.5, 0.001
# Where forwards are this many times faster than when they were first measured, other work had held those up, each kind
# by another share.
OUTDATED = 1.2
# Overhead before any was measured, in seconds; and the weight of a new iteration in its moving average.
OVERHEAD, WEIGHT = 1e-3, 0.05
# Seconds: no forward of any model takes less, nor more on a machine of any use.
SHORTEST, LONGEST = 1e-6, 600.0


@dataclass(frozen=True)
class CostModel:
    """Seconds of one forward.

    target: [context][rows], at CONTEXTS and ROW_COUNTS; draft: [context][k - 1], k = 1..8. overhead: seconds of an
    iteration outside both models.
    """

    target: tuple[tuple[float, ...], ...]
    draft: tuple[tuple[float, ...], ...]
    overhead: float = 0.0

    def target_time(self, rows: int | np.ndarray, context: float) -> Any:
        """T_target(rows) in seconds, inter- and extrapolated over rows and context; for a number or an array."""
        return between_contexts([between_rows(rows, times) for times in self.target], context)

    def draft_time(self, k: int, context: float) -> float:
        """T_draft(k): one step of k sequences."""
        return float(between_contexts([times[k - 1] for times in self.draft], context))


def between_rows(rows: int | np.ndarray, times: Sequence[float]) -> Any:
    """Linear in the rows, also beyond the last measured count; never below the time of that."""
    before, last = ROW_COUNTS[-2:]
    slope = max(0.0, times[-1] - times[-2]) / (last - before)
    return np.interp(rows, ROW_COUNTS, times) + np.maximum(0, rows - last) * slope


def between_contexts(times: Sequence[Any] | np.ndarray, context: float) -> Any:
    """Linear in the context's length, also beyond the longer one; never below the shorter one's time."""
    return np.maximum(times[0], times[0] + (times[1] - times[0]) * between(CONTEXTS, context))


def between(contexts: tuple[int, int], context: float) -> float:
    """Where a context is between two, 0 at the first and 1 at the second."""
    return (context - contexts[0]) / (contexts[1] - contexts[0])


def step_times(costs: CostModel, context: float) -> list[float]:
    """T_draft(1), T_draft(2), … T_draft(8)."""
    return between_contexts(np.array(costs.draft), context).tolist()


def median_model(models: Sequence[CostModel]) -> CostModel:
    """The median of every time, to which a calibration that was held up adds nothing."""
    target, draft = (np.median([getattr(model, side) for model in models], axis=0) for side in ("target", "draft"))
    overhead = float(np.median([model.overhead for model in models]))
    return CostModel(tuple(map(tuple, target.tolist())), tuple(map(tuple, draft.tolist())), overhead)


class Forward(NamedTuple):
    """A measured forward; context: the tokens before its rows."""

    rows: int
    context: int
    seconds: float


class Estimate:
    """Current seconds of one side's forwards, at LEARNT and these row counts (`points`).

    The machine's speed moves all of them at once; each follows its own forwards slowly. count: forwards seen; seen:
    system time of the last; level, baseline: the log of the speed's change by now, and as usual.
    """

    def __init__(self, points: Sequence[int]):
        self.points, self.count, self.seen = points, 0, 0.0
        # [context][point], without the change of speed since.
        long = [log(1e-3) + log1p(LONGER + EACH * point) for point in points]
        self.logs = [[log(1e-3)] * len(points), long]
        # The points (as indices) that no forward has shown yet.
        self.unknown = set(range(len(points)))
        self.late: deque[float] = deque(maxlen=STEADY)
        self.level = self.baseline = self.common = 0.0

    @property
    def table(self) -> tuple[tuple[float, ...], ...]:
        """[context][point], in seconds, at CONTEXTS."""
        return self.table_at(self.level)

    def table_at(self, level: float) -> tuple[tuple[float, ...], ...]:
        """The same at another speed."""
        short, long = ([exp(entry + level) for entry in logs] for logs in self.logs)
        share = between(LEARNT, CONTEXTS[1])
        return tuple(short), tuple(low + (high - low) * share for low, high in zip(short, long, strict=True))

    def shares(self, forward: Forward) -> list[tuple[int, int, float]]:
        """(context, point, seconds) of each entry in a forward's expected seconds: linear inter- and extrapolation."""
        long = max(0.0, between(LEARNT, forward.context))
        above = min(max(1, bisect_left(self.points, forward.rows)), len(self.points) - 1)
        share = (forward.rows - self.points[above - 1]) / (self.points[above] - self.points[above - 1])
        return [
            (context, point, by_context * by_rows * exp(self.logs[context][point]))
            for context, by_context in ((0, 1 - long), (1, long))
            for point, by_rows in ((above - 1, 1 - share), (above, share))
            if by_context * by_rows
        ]

    def observe(self, forward: Forward) -> None:
        """Update by a forward, of at most twice the rows of the last point."""
        now = time.time()
        if now - self.seen > LATELY:
            self.late.clear()
        shares = self.shares(forward)
        expected = max(sum(share for _, _, share in shares), SHORTEST)
        late = log(forward.seconds / expected)
        if first := self.unknown & {point for _, point, _ in shares}:
            # What was never measured is as the last that was.
            self.logs = [
                [entry + (late - self.level) * (point in self.unknown) for point, entry in enumerate(logs)]
                for logs in self.logs
            ]
            self.unknown -= first
        else:
            self.late.append(late)
            self.level = median(list(self.late)[-LAST:])
            # By least squares, normalised: beyond the longer context the shares are large. The squares of four
            # that add up to 1 add up to 0.25 at least.
            squares = max(0.25, sum(share * share for _, _, share in shares) / expected**2)
            rest = max(-FAR, min(FAR, late - self.level))
            self.common += COMMON * (rest - self.common)
            step = (rest - self.common) / squares / expected
            for context, point, share in shares:
                self.logs[context][point] += OWN[context] * step * share
        self.count, self.seen = self.count + 1, now
        if self.count <= len(self.points):
            self.baseline = self.level
        # At once to faster, slowly to slower.
        self.baseline = min(self.level, self.baseline + FORGETTING * (self.level - self.baseline))

    @property
    def steady(self) -> float:
        """The log of the speed's change over the last STEADY forwards."""
        return median(self.late or [self.level])

    @property
    def one_row(self) -> float:
        """Seconds of a forward of the first point at that speed, at the shorter context."""
        return exp(self.logs[0][0] + self.steady)

    @property
    def slowdown(self) -> float:
        """How many times longer than usual forwards have taken lately."""
        return max(1.0, exp(self.steady - self.baseline))

    def kept(self) -> dict:
        """What a cache file holds."""
        table, slowdown = self.table_at(self.steady), self.slowdown
        return {"table": table, "count": self.count, "seen": self.seen, "slowdown": slowdown}

    def recall(self, kept: dict) -> None:
        """Restore what a cache file holds; the machine's speed may have changed since.

        Raises ValueError, KeyError or TypeError for impossible content.
        """
        table, slowdown = np.array(kept["table"], dtype=float), float(kept["slowdown"])
        possible = table.shape == (len(CONTEXTS), len(self.points)) and (table >= SHORTEST).all()
        # No NaN passes a comparison.
        if not (possible and (table <= LONGEST).all() and 1 <= slowdown <= LONGEST):
            raise ValueError("no machine has such costs")
        self.count, self.seen = int(kept["count"]), float(kept["seen"])
        self.level = log(slowdown)
        table[1] = between_contexts(table, LEARNT[1])
        self.logs, self.unknown = (np.log(table) - self.level).tolist(), set()


class Costs:
    """Both sides' costs in one placement, learnt from all its forwards."""

    def __init__(self):
        self.target, self.draft, self.overhead = Estimate(ROW_COUNTS), Estimate(WIDTHS), OVERHEAD

    @property
    def model(self) -> CostModel:
        """The costs as they are now."""
        return CostModel(self.target.table, self.draft.table, self.overhead)

    @property
    def outdated(self) -> bool:
        """Whether both sides' forwards were measured while other work made them slow."""
        return self.draft.count > 0 and exp(-self.target.level) > OUTDATED

    def observe_overhead(self, seconds: float) -> None:
        """Update by an iteration's seconds outside both models."""
        self.overhead += WEIGHT * (min(max(seconds, 0.0), 4 * max(self.overhead, OVERHEAD)) - self.overhead)

    def observe(self, target: Sequence[Forward], draft: Sequence[Forward]) -> None:
        """Update by forwards of both sides; long ones (of a prompt) are ignored.

        Forwards of one kind count as one of their mean time, since each update costs the run time.
        """
        for side, forwards in ((self.target, target), (self.draft, draft)):
            kinds: dict[tuple[int, int], list[float]] = {}
            for rows, context, seconds in forwards:
                if rows <= 2 * side.points[-1] and SHORTEST <= seconds <= LONGEST:
                    kinds.setdefault((rows, context), []).append(seconds)
            for kind, times in kinds.items():
                side.observe(Forward(*kind, sum(times) / len(times)))
