"""Calibration: measuring what both models cost on this machine."""

from collections.abc import Callable
from functools import partial

from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.forward import Stopped, timed_forward, timed_prefill
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.decoding.worker.requests import MeasureRequest
from duoviz.models.language_model import LanguageModel

# How often a calibration times each row count.
PASSES = 3


def calibrate(
    target: LanguageModel, draft: DraftWorker, *, beside: bool, stopped: Callable[[], bool] = bool
) -> CostModel:
    """Measure the cost model once; call it on the target's cores.

    beside: both sides work at the same time; else one after the other. Raises DraftDied, Stopped.
    """
    forwards, steps = [], []
    for context in CONTEXTS:
        measure = partial(measure_target, target, context=context, stopped=stopped)
        alone = measure(passes=1 if beside else 1 + PASSES)
        draft.submit(MeasureRequest(context, PASSES * sum(alone)))
        forwards.append(measure(passes=PASSES, until=draft.ready) if beside else alone)
        times = draft.result(stopped=stopped)
        steps.append(tuple(times[k] for k in range(1, MAX_SEQUENCES + 1)))
    return CostModel(tuple(forwards), tuple(steps))


def measure_target(
    model: LanguageModel,
    *,
    context: int,
    passes: int,
    until: Callable[[], bool] = lambda: True,
    stopped: Callable[[], bool] = bool,
) -> tuple[float, ...]:
    """Median seconds of one forward for each of ROW_COUNTS, each timed `passes` times or more; the first of
    several does not count.

    A model with a shorter context is measured at the end of it. Raises Stopped.
    """
    context = min(context, model.context_limit - ROW_COUNTS[-1])
    model.crop(0)
    timed_prefill(model, [0] * context, stopped=stopped)
    times: dict[int, list[float]] = {rows: [] for rows in ROW_COUNTS}
    while len(times[1]) < passes or not until():
        for rows, seconds in times.items():
            if stopped():
                raise Stopped
            _, span = timed_forward(model, [0] * rows)
            seconds.append(span.seconds)
            model.crop(context)
    model.crop(0)
    counted = [seconds[1:] or seconds for seconds in times.values()]
    return tuple(sorted(seconds)[len(seconds) // 2] for seconds in counted)
