"""The costs of one way to run a pair on this machine: calibrated once, then kept, refined and doubted."""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import numba
import torch

from duoviz.decoding.calibration import calibrate
from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.way import Way
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.models.cache import cache_folder, measured_once, measuring, recall, remember
from duoviz.models.cores import machine_name, on_cores
from duoviz.models.pair import Pair

# Seconds: no forward of any model takes less, nor more on a machine of any use.
SHORTEST, LONGEST = 1e-6, 600.0
# How many calibrations make costs that are not refined further: a run begins with the first, the others follow while
# nobody waits.
CALIBRATIONS = 5
# Costs that a run finds larger or smaller by this factor are measured anew.
CONTRADICTION = 2.0
# So many of the last runs tell how far the costs still hold: a single one may have been disturbed.
RUNS = 5


class KeptCosts:
    """A way's cost model: the medians of its calibrations, which a cache file keeps too."""

    def __init__(self, pair: Pair, way: Way, draft: Callable[[], DraftWorker], *, model: CostModel | None = None):
        """draft: gives the running draft of this way. model: costs that are given, and stay as they are.

        known: the costs in force, None before they are needed.
        """
        self.pair, self.way, self.draft, self.known = pair, way, draft, model
        self.is_given = model is not None
        self.calibrations: list[CostModel] = []
        # By how much the target's forwards took longer than the costs say, in each of the last runs.
        self.factors: deque[float] = deque(maxlen=RUNS)

    @property
    def file(self) -> Path:
        """The cache file of the calibrations."""
        pair, way = self.pair, self.way
        machine = f"{pair.target_device_label(way.cores)} {pair.cores} {machine_name()}"
        key = f"{way} {machine} {torch.__version__} {numba.__version__} {pair.name} {pair.target.label}"
        return cache_folder() / f"costs-{hashlib.sha256(f'{key} {pair.draft.version}'.encode()).hexdigest()[:16]}.json"

    def model(self, *, stopped: Callable[[], bool] = bool) -> CostModel:
        """The cost model: as given or kept, else from the cache file, else measured now. Raises DraftDied, Stopped."""
        if self.known:
            return self.known
        return self.keep(measured_once(lambda: stored(self.file), lambda: self.store(stopped=stopped), stopped=stopped))

    def refine(self, *, stopped: Callable[[], bool] = bool) -> bool:
        """Calibrate once more where the costs rest on too few; whether they did. Raises DraftDied, Stopped."""
        self.model(stopped=stopped)
        if self.is_given or len(self.calibrations) >= CALIBRATIONS:
            return False
        with measuring(stopped=stopped):
            self.keep(self.store(stopped=stopped))
        return True

    def store(self, *, stopped: Callable[[], bool]) -> list[CostModel]:
        """One calibration more, and those that are kept; the cache file has them from now on."""
        draft = self.draft()
        with on_cores(self.way.cores):
            newest = calibrate(self.pair.target, draft, beside=self.way.beside, stopped=stopped)
        calibrations = [*self.calibrations, newest]
        remember(self.file, {"calibrations": [asdict(costs) for costs in calibrations]})
        return calibrations

    def keep(self, calibrations: list[CostModel]) -> CostModel:
        """From now on these are the calibrations; their medians are the costs."""
        self.calibrations = calibrations
        self.factors.clear()
        target, draft = ([getattr(costs, side) for costs in calibrations] for side in ("target", "draft"))
        self.known = CostModel(median_of(target), median_of(draft))
        return self.known

    def doubt(self, factors: tuple[float, float]) -> None:
        """Learn by how much a run's forwards took longer than the costs say, and forget costs that it contradicts.

        factors: of both sides at the end of the run (see `costs.LiveCosts`).
        """
        self.factors.append(float(factors[0]))
        if self.calibrations and not all(1 / CONTRADICTION < factor < CONTRADICTION for factor in factors):
            self.forget()

    def forget(self) -> None:
        """Forget the calibrations, here and in the cache folder; the costs stay in force until they are refined."""
        self.calibrations = []
        remember(self.file, {"calibrations": []})

    @property
    def drift(self) -> float:
        """By how much the target's forwards took longer in most of the last runs than the costs say.

        The two ways' costs are measured at different times, and a shared machine's speed changes meanwhile.
        """
        return median(self.factors or (1.0,))


def median_of(tables: Sequence[Sequence[Sequence[float]]]) -> tuple[tuple[float, ...], ...]:
    """The median of each entry of tables of one shape."""
    return tuple(tuple(map(median, zip(*rows, strict=True))) for rows in zip(*tables, strict=True))


def stored(file: Path) -> list[CostModel] | None:
    """The calibrations in a cache file, or None where there are none, or one cannot be true."""
    try:
        calibrations = [
            CostModel(*(tuple(tuple(map(float, row)) for row in table[side]) for side in ("target", "draft")))
            for table in recall(file)["calibrations"]
        ]
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
    return calibrations if calibrations and all(map(is_possible, calibrations)) else None


def is_possible(costs: CostModel) -> bool:
    """Whether these can be a machine's costs."""
    shapes = ([len(row) for row in costs.target], [len(row) for row in costs.draft])
    right = shapes == ([len(ROW_COUNTS)] * len(CONTEXTS), [MAX_SEQUENCES] * len(CONTEXTS))
    # No NaN passes a comparison.
    return right and all(SHORTEST <= seconds <= LONGEST for row in (*costs.target, *costs.draft) for seconds in row)
