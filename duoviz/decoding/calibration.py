"""Calibration: what forwards of both models cost here, measured in half a second and kept for later processes."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numba
import torch

from duoviz.decoding.choosing import step
from duoviz.decoding.costs import LONGEST, ROW_COUNTS, WIDTHS, Costs, Forward
from duoviz.decoding.forward import Stopped, timed_forward, timed_prefill
from duoviz.decoding.placement import Placement
from duoviz.decoding.sampling import DraftNotFinite, Sampling
from duoviz.decoding.worker.protocol import DraftState, DraftWorker
from duoviz.models.cache import cache_folder, recall, remember
from duoviz.models.cores import machine_name
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import Pair

# Tokens before the timed forwards; few, so that a calibration takes less than half a second.
CONTEXT = 32
# Least seconds that a parallel draft works, so that the target is not measured alone.
BESIDE = 0.25


def calibrate(
    target: LanguageModel, draft: DraftWorker, costs: Costs, *, beside: bool, stopped: Callable[[], bool] = bool
) -> None:
    """Update `costs` by one forward of each kind; call it on the target's cores.

    beside: both sides work at the same time; else one after the other. Raises DraftDied, Stopped.
    """
    draft.submit(MeasureRequest(CONTEXT, BESIDE if beside else 0.0))
    if beside:
        forwards, steps = measure_target(target, stopped=stopped), draft.result(stopped=stopped)
    else:
        steps, forwards = draft.result(stopped=stopped), measure_target(target, stopped=stopped)
    costs.observe(forwards, [Forward(k, CONTEXT, steps[k]) for k in WIDTHS])


def measure_target(model: LanguageModel, *, stopped: Callable[[], bool] = bool) -> list[Forward]:
    """The faster of two forwards for each of ROW_COUNTS: one in twenty is held up. Raises Stopped."""
    context = min(CONTEXT, model.context_limit - ROW_COUNTS[-1])
    model.crop(0)
    model.forward([0] * context)
    seconds: dict[int, float] = {}
    for rows in 2 * ROW_COUNTS[::-1]:
        if stopped():
            raise Stopped
        _, span = timed_forward(model, [0] * rows)
        seconds[rows] = min(span.seconds, seconds.get(rows, LONGEST))
        model.crop(context)
    model.crop(0)
    return [Forward(rows, context, taken) for rows, taken in seconds.items()]


@dataclass(frozen=True)
class MeasureRequest:
    """Median seconds of one draft step with k = 1..8 rows after `context` tokens; repeats for `seconds` at least.

    A model without trees drafts one sequence, so its one-row step stands for every k. A model with a shorter context is
    measured at the end of it.
    """

    context: int
    seconds: float

    def answers(
        self, draft: DraftState, *, waits: Callable[[], bool], stopped: Callable[[], bool]
    ) -> Iterator[dict[int, float]]:
        """Raises Stopped, also where another request waits."""
        model = draft.model
        context = min(self.context, model.context_limit - 1)
        model.crop(0)
        timed_prefill(model, [0] * context, stopped=lambda: waits() or stopped())
        times: dict[int, list[float]] = {k: [] for k in (WIDTHS if model.supports_tree else [1])}
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end or len(times[1]) < 3:
            for k, taken in times.items():
                if waits() or stopped():
                    raise Stopped
                start = time.perf_counter()
                # The run itself says what becomes of such a draft.
                with suppress(DraftNotFinite):
                    step(model, [0] * k, [context - 1] * k, [context + 1] * k, Sampling(), 1)
                taken.append(time.perf_counter() - start)
                model.crop(context)
        model.crop(0)
        medians = {k: sorted(taken)[len(taken) // 2] for k, taken in times.items()}
        yield {k: medians.get(k, medians[1]) for k in WIDTHS}


def costs_file(pair: Pair, placement: Placement) -> Path:
    """The cache file of a placement's costs."""
    machine = f"{pair.target_device_label(placement.cores)} {pair.cores} {machine_name()}"
    key = f"{placement} {machine} {torch.__version__} {numba.__version__} {pair.name} {pair.target.label}"
    key += f" {pair.target.precision} {pair.draft.version}"
    return cache_folder() / f"costs-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def recall_costs(file: Path) -> Costs:
    """The costs in a file; fresh ones if it is missing or damaged."""
    costs = Costs()
    try:
        kept = recall(file)
        for name in ("target", "draft"):
            if kept[name]["count"]:
                getattr(costs, name).recall(kept[name])
        costs.overhead = min(max(float(kept["overhead"]), 0.0), LONGEST)
    except (ValueError, KeyError, TypeError, OverflowError):
        return Costs()
    return costs


def remember_costs(file: Path, costs: Costs) -> None:
    """Write the costs for later processes."""
    remember(file, {"target": costs.target.kept(), "draft": costs.draft.kept(), "overhead": costs.overhead})
