"""Calibration: the few forwards that begin the estimate of what both models cost here."""

from collections.abc import Callable
from itertools import chain

from duoviz.decoding.costs import ROW_COUNTS, WIDTHS, Costs, Forward
from duoviz.decoding.forward import Stopped, timed_forward
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.decoding.worker.requests import MeasureRequest
from duoviz.models.language_model import LanguageModel

# Tokens before the forwards that are timed: few, so that it takes less than half a second.
CONTEXT = 32
# Seconds for which a draft beside the target works at least, so that the target is not measured alone.
BESIDE = 0.25


def calibrate(
    target: LanguageModel, draft: DraftWorker, costs: Costs, *, beside: bool, stopped: Callable[[], bool] = bool
) -> None:
    """Show `costs` one forward of each kind; call it on the target's cores.

    beside: both sides work at the same time; else one after the other. Raises DraftDied, Stopped.
    """
    draft.submit(MeasureRequest(CONTEXT, BESIDE if beside else 0.0))
    if beside:
        forwards, steps = measure_target(target, stopped=stopped), draft.result(stopped=stopped)
    else:
        steps, forwards = draft.result(stopped=stopped), measure_target(target, stopped=stopped)
    costs.observe(forwards, [Forward(k, CONTEXT, steps[k]) for k in WIDTHS])


def measure_target(model: LanguageModel, *, stopped: Callable[[], bool] = bool) -> list[Forward]:
    """A forward for each of ROW_COUNTS, the last ones of one row; the very first does not count. Raises Stopped."""
    context = min(CONTEXT, model.context_limit - ROW_COUNTS[-1])
    model.crop(0)
    model.forward([0] * context)
    forwards = []
    for rows in chain((1,), ROW_COUNTS[::-1], (1,)):
        if stopped():
            raise Stopped
        _, span = timed_forward(model, [0] * rows)
        forwards.append(Forward(rows, context, span.seconds))
        model.crop(context)
    model.crop(0)
    return forwards[1:]
