"""Measuring what both models cost on this machine, and keeping it."""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median

import numba
import torch

from duoviz.decoding.budget import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.draft_requests import MeasureRequest
from duoviz.decoding.draft_worker import Draft
from duoviz.decoding.iteration import Stopped, timed_forward, timed_prefill
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.models.cache import cache_folder, measured_once, measuring, recall, remember
from duoviz.models.cores import machine_name
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import Pair

# Seconds: no forward of any model takes less, nor more on a machine of any use.
SHORTEST, LONGEST = 1e-6, 600.0

# How often a calibration times each row count, and how many calibrations make costs that are not refined further:
# a run begins with the first, the others follow while nobody waits.
PASSES, CALIBRATIONS = 3, 5
# Costs that a run finds larger or smaller by this factor are measured anew.
CONTRADICTION = 2.0
# So many of the last runs tell how far the costs still hold: a single one may have been disturbed.
RUNS = 5


def calibrate(pair: Pair, draft: Draft, *, stopped: Callable[[], bool] = bool) -> CostModel:
    """Measure the cost model once: both sides work at the same time, each on its own cores.

    Call it on the target's cores. Raises Stopped.
    """
    target, steps = [], []
    for context in CONTEXTS:
        alone = measure_target(pair.target, context=context, passes=1, stopped=stopped)
        draft.submit(MeasureRequest(context, PASSES * sum(alone)))
        busy = partial(measure_target, pair.target, context=context, passes=PASSES, stopped=stopped)
        target.append(busy(until=draft.ready))
        steps.append(by_sequences(draft.result(stopped=stopped)))
    return CostModel(tuple(target), tuple(steps))


def calibrate_in_turn(pair: Pair, draft: Draft, *, stopped: Callable[[], bool] = bool) -> CostModel:
    """Measure once the cost model of two models that take turns on the same cores. Raises Stopped."""
    target, steps = [], []
    for context in CONTEXTS:
        target.append(measure_target(pair.target, context=context, passes=1 + PASSES, stopped=stopped))
        steps.append(draft_times(draft, context, PASSES * sum(target[-1]), stopped=stopped))
    return CostModel(tuple(target), tuple(steps))


def draft_times(draft: Draft, context: int, seconds: float, *, stopped: Callable[[], bool] = bool) -> tuple[float, ...]:
    """T_draft(k) for k = 1..8 at a context, measured for `seconds`. Raises Stopped."""
    draft.submit(MeasureRequest(context, seconds))
    return by_sequences(draft.result(stopped=stopped))


def by_sequences(times: dict[int, float]) -> tuple[float, ...]:
    return tuple(times[k] for k in range(1, MAX_SEQUENCES + 1))


def measure_target(
    model: LanguageModel,
    *,
    context: int,
    passes: int,
    until: Callable[[], bool] = lambda: True,
    stopped: Callable[[], bool] = bool,
) -> tuple[float, ...]:
    """Median seconds of one forward for each row count, each timed `passes` times or more; the first of
    several does not count.

    A model with a shorter context is measured at the end of it. Raises Stopped.
    """
    context = min(context, model.context_limit - ROW_COUNTS[-1])
    model.crop(0)
    timed_prefill(model, [0] * context, stopped=stopped)
    times: dict[int, list[float]] = {rows: [] for rows in ROW_COUNTS}
    while len(times[1]) < passes or not until():
        for rows, taken in times.items():
            if stopped():
                raise Stopped
            _, span = timed_forward(model, [0] * rows)
            taken.append(span.end - span.start)
            model.crop(context)
    model.crop(0)
    counted = [taken[1:] or taken for taken in times.values()]
    return tuple(sorted(taken)[len(taken) // 2] for taken in counted)


def costs_name(*, in_turn: bool) -> str:
    """Where the costs on the cores in force are kept with the pair."""
    return f"costs in turn, {torch.get_num_threads()} threads" if in_turn else "costs"


def costs_file(pair: Pair, *, in_turn: bool) -> Path:
    """The cache file of the pair's calibrations on the cores in force."""
    device = pair.target_device_label(pair.cores.all if in_turn else pair.cores.target)
    machine = f"{device} {pair.cores} {machine_name()} {torch.__version__} {numba.__version__}"
    key = f"{costs_name(in_turn=in_turn)} {machine} {pair.name} {pair.target.label} {pair.draft.version}"
    return cache_folder() / f"costs-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def cost_model(pair: Pair, draft: Draft, *, in_turn: bool = False, stopped: Callable[[], bool] = bool) -> CostModel:
    """The pair's cost model on this machine: kept with the pair, else from the cache folder, else measured once.

    in_turn: both sides use the cores in force one after the other; else each has its own share. Raises Stopped
    where `stopped` says so while it is measured.
    """
    name = costs_name(in_turn=in_turn)
    if name not in runtime(pair).costs:
        file = costs_file(pair, in_turn=in_turn)
        measure = partial(calibrate_in_turn if in_turn else calibrate, pair, draft, stopped=stopped)
        known = measured_once(partial(stored_costs, file), lambda: store_costs(file, [measure()]), stopped=stopped)
        keep_costs(pair, known, in_turn=in_turn)
    return runtime(pair).costs[name]


def store_costs(file: Path, calibrations: list[CostModel]) -> list[CostModel]:
    """The calibrations, which the cache file has from now on."""
    remember(file, {"calibrations": [asdict(each) for each in calibrations]})
    return calibrations


def keep_costs(pair: Pair, calibrations: list[CostModel], *, in_turn: bool) -> None:
    """Keep calibrations with the pair; the costs in force are their medians, where there are any."""
    name = costs_name(in_turn=in_turn)
    runtime(pair).calibrations[name] = calibrations
    if calibrations:
        runtime(pair).factors.pop(name, None)
        target, draft = ([getattr(each, side) for each in calibrations] for side in ("target", "draft"))
        runtime(pair).costs[name] = CostModel(medians(target), medians(draft))


def refine_costs(pair: Pair, draft: Draft, *, in_turn: bool, stopped: Callable[[], bool] = bool) -> bool:
    """Measure once more where the costs rest on too few calibrations; whether they did. Raises Stopped.

    Costs that were given and not measured stay as they are.
    """
    cost_model(pair, draft, in_turn=in_turn, stopped=stopped)
    known = runtime(pair).calibrations.get(costs_name(in_turn=in_turn))
    if known is None or len(known) >= CALIBRATIONS:
        return False
    file, measure = costs_file(pair, in_turn=in_turn), calibrate_in_turn if in_turn else calibrate
    with measuring(stopped=stopped):
        known = store_costs(file, [*known, measure(pair, draft, stopped=stopped)])
    keep_costs(pair, known, in_turn=in_turn)
    return True


def doubt_costs(pair: Pair, factors: tuple[float, float], *, in_turn: bool) -> None:
    """Keep by how much a run's forwards took longer than its costs say, and forget calibrations that it contradicts;
    its costs stay in force until they are measured anew.

    factors: `LiveCosts.factors` at the end of the run.
    """
    runtime(pair).factors.setdefault(costs_name(in_turn=in_turn), deque(maxlen=RUNS)).append(float(factors[0]))
    known = runtime(pair).calibrations.get(costs_name(in_turn=in_turn))
    if known and not all(1 / CONTRADICTION < factor < CONTRADICTION for factor in factors):
        forget_costs(pair, in_turn=in_turn)


def drift_of(pair: Pair, *, in_turn: bool) -> float:
    """By how much the target's forwards took longer in most of the last runs on the cores in force than its costs say.

    The two ways' costs are measured at different times, and a shared machine's speed changes meanwhile.
    """
    return median(runtime(pair).factors.get(costs_name(in_turn=in_turn), (1.0,)))


def forget_costs(pair: Pair, *, in_turn: bool) -> None:
    """Forget the calibrations, here and in the cache folder; the costs in force stay until they are measured anew."""
    keep_costs(pair, store_costs(costs_file(pair, in_turn=in_turn), []), in_turn=in_turn)


def medians(tables: Sequence[Sequence[Sequence[float]]]) -> tuple[tuple[float, ...], ...]:
    """The median of each entry of tables of one shape."""
    return tuple(tuple(map(median, zip(*rows, strict=True))) for rows in zip(*tables, strict=True))


def stored_costs(file: Path) -> list[CostModel] | None:
    """The calibrations in a cache file, or None where there are none, or one cannot be true."""
    try:
        calibrations = [
            CostModel(*(tuple(tuple(map(float, row)) for row in stored[side]) for side in ("target", "draft")))
            for stored in recall(file)["calibrations"]
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
