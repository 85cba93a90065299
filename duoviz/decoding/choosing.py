"""A forward of the draft, and the tokens that are chosen after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from duoviz.decoding.forward import timed_forward, timed_prefill
from duoviz.decoding.iteration import Span
from duoviz.decoding.sampling import FIRST_FRESH, SHARED, DraftNotFinite, Sampling, filtered, scores, tempered
from duoviz.models.language_model import LanguageModel, as_array, ids_of, leading

if TYPE_CHECKING:
    from torch import Tensor

    from duoviz.models.copying import Copying

NOT_FINITE = "The draft's logits are infinite or NaN: use another draft."
# A text of more new tokens is read by as many threads as pay for it.
AT_ONCE = 16
# A distribution that a token was drawn from, [columns], and the columns' ids.
Row = tuple[np.ndarray, "Tensor | None"]


class Choice(NamedTuple):
    """What may be drafted after one row: tokens in the order in which they are drawn, with their q. likeliest: (id, p)
    of the most probable tokens before top-k and top-p, for θ and k. row: what is drawn from (classical rule).
    """

    tokens: list[int]
    q: list[float]
    likeliest: list[tuple[int, float]]
    row: Row | None = None


def choices(
    model: LanguageModel,
    logits: Tensor,
    positions: Sequence[int],
    sampling: Sampling,
    count: int,
    fresh: int | None = None,
) -> list[Choice]:
    """The `count` best tokens after each row of the model's logits [rows, vocab], and as many of the likeliest.

    positions: for each row, the position in the text of the token after it. Raises DraftNotFinite.
    """
    values, likeliest = as_array(logits), []
    for row in values:
        columns, total = leading(row, count)
        if not isfinite(total):
            raise DraftNotFinite(NOT_FINITE)
        likeliest.append((columns, np.exp(row[columns] - row[columns[0]] - total)))
    # Not by torch, whose threads would go on to look for work on the cores that the next forward needs.
    if sampling.temperature == 0:
        greedy = [(ids_of(columns, model.known), q.tolist()) for columns, q in likeliest]
        return [Choice(tokens, q, list(zip(tokens, q, strict=True))) for tokens, q in greedy]
    p = tempered(logits.cpu(), sampling.temperature)
    q = filtered(p, top_k=sampling.top_k, top_p=sampling.top_p)
    stream = SHARED if fresh is None else FIRST_FRESH + fresh
    score = scores(q, positions, sampling, stream=stream, known=model.known)
    found = []
    for row, drawn in enumerate(score.topk(min(count, score.shape[-1])).indices):
        columns = likeliest[row][0]
        first = zip(ids_of(columns, model.known), p[row].numpy()[columns].tolist(), strict=True)
        kept = None if fresh is None else (q[row].numpy(), model.known)
        found.append(Choice(ids_of(drawn.numpy(), model.known), q[row, drawn].tolist(), list(first), kept))
    return found


def is_compiled(model: LanguageModel, sampling: Sampling) -> TypeGuard[Copying]:
    """Whether a draft chooses its tokens in the compiled call that forwards."""
    return sampling.temperature == 0 and getattr(model, "compiled", False)


def step(
    model: LanguageModel,
    tokens: Sequence[int],
    parents: Sequence[int] | None,
    positions: Sequence[int],
    sampling: Sampling,
    count: int,
    fresh: int | None = None,
) -> tuple[list[Choice], Span]:
    """Forward tokens and choose after each (see `choices`), without parents after the last; the span of both."""
    if is_compiled(model, sampling):
        start = time.perf_counter()
        steps = model.best(tokens, parents=parents, count=count)
        chosen = [chosen_of(*row) for row in zip(steps.best.tolist(), steps.q.tolist(), strict=True)]
        return chosen, Span(start, time.perf_counter(), len(tokens))
    logits, span = timed_forward(model, tokens, parents=parents, rows=None if parents else [len(tokens) - 1])
    return choices(model, logits, positions, sampling, count, fresh), ended_now(span)


def chosen_of(tokens: list[int], q: list[float]) -> Choice:
    """Raises DraftNotFinite."""
    if isnan(q[0]):
        raise DraftNotFinite(NOT_FINITE)
    return Choice(tokens, q, list(zip(tokens, q, strict=True)))


def read(
    model: LanguageModel,
    tokens: Sequence[int],
    sampling: Sampling,
    count: int,
    fresh: int | None = None,
    *,
    stopped: Callable[[], bool],
) -> tuple[list[Choice], Span]:
    """Forward what is new in the text and choose after it (see `choices`); the span of both. Raises Stopped."""
    end = model.length + len(tokens)
    if len(tokens) <= AT_ONCE:
        return step(model, tokens, None, [end], sampling, count, fresh)
    logits, span = timed_prefill(model, tokens, stopped=stopped)
    return choices(model, logits, [end], sampling, count, fresh), ended_now(span)


def ended_now(span: Span) -> Span:
    """The span of a draft step: its forward and the choice of tokens after it."""
    return span._replace(end=time.perf_counter())
