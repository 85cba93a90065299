"""A draft's steps without a temperature, compiled: a forward and the best tokens after it, and so on, in one call."""

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import types

from duoviz.models.barrier import MEETING, wait_for_all
from duoviz.models.kernels import Array, Call, run
from duoviz.models.machine_code import compiled
from duoviz.models.ngrams import ALIKE, DIFFER, ONCE
from duoviz.models.vectors import ONE, earlier, leaders

CLOCK = np.int32(time.CLOCK_MONOTONIC)


class Copies(NamedTuple):
    """What a draft copies from, and which tokens its head's columns are.

    text: int64 [tokens]. weights: float64 [kinds, longest n-gram] (see `copying.Copying`). known: int64 [columns], the
    columns' ids, empty where a column's number is its id; columns: int64 [ids], each id's column, -1 without one.
    """

    text: Array
    weights: Array
    known: Array
    columns: Array


class Sureness(NamedTuple):
    """How long a path goes on: while the product of its tokens' chances is above `least`, and none is in `ends`.

    chances: float64 [2, bins], places of q, ascending, and the chance there; ends: int64.
    """

    chances: Array
    least: float
    ends: Array


# For tokens of any probability.
CERTAIN = Sureness(np.array([[0.0, 1.0], [1.0, 1.0]]), 0.0, np.zeros(0, np.int64))


class Steps(NamedTuple):
    """What steps write, and where their threads meet.

    paths: int64 [rows, longest n-gram + steps], at first the tokens up to each row, -1 before the text; a single row's
    path goes on with a token a step. best, q: int64 and float32 [rows, count], the best tokens after the first step.
    path_q: float32 [steps]; ended: float64 [steps], seconds of the system's monotonic clock. made: int64 [1], how many
    steps there were, 0 before the last. meetings: int64 [steps, MEETING], zeros.
    """

    paths: Array
    best: Array
    q: Array
    path_q: Array
    ended: Array
    made: Array
    meetings: Array

    def path(self) -> tuple[list[int], list[float], list[float]]:
        """The single path's new tokens, their q, and when each step ended."""
        made, most = int(self.made[0]), len(self.ended)
        return self.paths[0, -most:][:made].tolist(), self.path_q[:made].tolist(), self.ended[:made].tolist()


def new_steps(suffixes: Sequence[list[int]], longest: int, count: int, most: int) -> Steps:
    """For steps of rows that these tokens lead to, at most `longest` each, and at most so many steps."""
    rows, paths = len(suffixes), [[-1] * (longest - len(suffix)) + suffix + [-1] * most for suffix in suffixes]
    return Steps(
        np.array(paths), np.zeros((rows, count), np.int64), np.zeros((rows, count), np.float32),
        np.zeros(most, np.float32), np.zeros(most), np.zeros(1, np.int64), np.zeros((most, MEETING), np.int64),
    )  # fmt: skip


clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.CPointer(types.int64)))


@compiled
def seconds_now(parts):
    """Seconds of the system's monotonic clock, as `time.perf_counter` gives; overwrites parts, int64 [2]."""
    clock_gettime(CLOCK, parts.ctypes)
    return parts[0] + 1e-9 * parts[1]


@compiled
def chance_at(chances, q):
    """The chance of a token of this probability (see `Sureness`): between places linear, beyond them the nearest's."""
    places, values = chances
    above = np.searchsorted(places, q)
    if above == 0 or above == len(places):
        return values[min(above, len(places) - 1)]
    weight = (q - places[above - 1]) / (places[above] - places[above - 1])
    return values[above - 1] + (values[above] - values[above - 1]) * weight


@partial(compiled, flags=())
def choose(logits, head, copies, path, best, q):
    """The best tokens after a row, [count], with their q, which are NaN where logits are not finite.

    logits: float32 of the head's columns, and one more for a copied token that is none of them. path: the last tokens.
    """
    used, copied = head, -1
    length, _, last, before = earlier(copies.text, path)
    if length:
        copied = copies.text[last]
        kind = ONCE if before < 0 else ALIKE if copies.text[before] == copied else DIFFER
        weight = copies.weights[kind, length - 1]
        column = copies.columns[copied] if copied < len(copies.columns) else -1
        if column < 0 and len(copies.known) and weight > 0:
            column, used, logits[head] = head, head + 1, -np.inf
        if column >= 0 and weight > 0:
            most, total = leaders(logits[:used], 1, ONE)
            odds = np.float32(np.log(weight / (1 - weight)))
            logits[column] = np.logaddexp(logits[column], logits[most[0]] + np.float32(total) + odds)
    columns, total = leaders(logits[:used], len(best), ONE)
    for rank in range(len(columns)):
        column = columns[rank]
        best[rank] = copied if column == head else copies.known[column] if len(copies.known) else column
        q[rank] = np.exp(logits[column] - logits[columns[0]] - np.float32(total))


@partial(compiled, flags=())
def run_steps(model, shape, cache, work, call, busy, logits, head, copies, sureness, steps, meeting, rank, threads):
    """One thread's part of a forward and of the best tokens after its logit rows; then of what a single path adds.

    head: how many columns are tokens. Borrowed cores take no part.
    """
    if rank == threads:
        return
    slots, most, longest = call.mask.shape[1], len(steps.ended), copies.weights.shape[1]
    seen, depth, first = np.ones(slots + most, np.bool_), call.depths[-1:].copy(), np.zeros(1, np.int64)
    seen[:slots] = call.mask[-1]
    value, path, path_q, clock = 1.0, steps.paths[0], steps.path_q, np.empty(2, np.int64)
    for step in range(most):
        run(model, shape, cache, work, call, busy, logits, steps.meetings[step], rank, threads)
        now = longest + step
        if rank == 0:
            if step:
                choose(logits[0], head, copies, path[step:now], path[now : now + 1], path_q[step : step + 1])
            else:
                for row in range(len(steps.paths)):
                    choose(logits[row], head, copies, steps.paths[row, :longest], steps.best[row], steps.q[row])
                path[now], path_q[0] = steps.best[0, 0], steps.q[0, 0]
            steps.ended[step] = seconds_now(clock)
            value *= chance_at(sureness.chances, path_q[step])
            over = np.isnan(path_q[step]) or not value > sureness.least or (sureness.ends == path[now]).any()
            if over or step + 1 == most:
                steps.made[0] = step + 1
        if step + 1 < most:
            wait_for_all(meeting, threads)
            if steps.made[0]:
                return
            depth[0] += 1
            seen_now = seen[: slots + step + 1].reshape((1, slots + step + 1))
            call = Call(path[now : now + 1], depth, seen_now, first)
