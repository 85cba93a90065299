"""Timed forwards, which can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from duoviz.decoding.iteration import Span
from duoviz.models.language_model import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor

# Tokens; small enough that a run stops within a second while it reads a long prompt.
PREFILL_CHUNK = 128


class Stopped(Exception):
    """The run was stopped during a long forward or a wait."""


def timed_forward(model: LanguageModel, ids: Sequence[int], **options) -> tuple[Tensor, Span]:
    """`model.forward` and its span, measured after the device is done; options: of `LanguageModel.forward`."""
    start = time.perf_counter()
    logits = model.forward(ids, **options)
    if model.device.startswith("cuda"):
        from torch import cuda

        cuda.synchronize(model.device)
    return logits, Span(start, time.perf_counter(), len(ids))


def timed_prefill(
    model: LanguageModel, ids: Sequence[int], *, stopped: Callable[[], bool] = bool
) -> tuple[Tensor, Span]:
    """Forward one token or many, in chunks; logits [1, vocab] of the last, and one span over all.

    Raises Stopped where `stopped` says so before a chunk.
    """
    length, spans = len(ids), []
    ids = ids[model.skip(ids) :]
    for begin in range(0, len(ids), PREFILL_CHUNK):
        if stopped():
            raise Stopped
        chunk = ids[begin : begin + PREFILL_CHUNK]
        logits, span = timed_forward(model, chunk, rows=[len(chunk) - 1])
        spans.append(span)
    return logits, Span(spans[0].start, spans[-1].end, length)
