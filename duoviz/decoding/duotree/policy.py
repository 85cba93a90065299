"""DuoTree's policy: how many nodes are worth verifying, and whether another draft step pays before."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from duoviz.decoding.costs import ROW_COUNTS
from duoviz.decoding.duotree.tree import Tree

# How many nodes the draft may forward in one step.
WIDTHS = (1, 2, 4)
# Most tokens verified at once by default; the target adds a row of its own.
MOST_VERIFIED = ROW_COUNTS[-1] - 1
# Limits of the parallel tree: node count, and least value still expanded.
MOST_NODES, LEAST_VALUE = 192, 0.02


class Decision(NamedTuple):
    """width: how many nodes to forward in one more draft step, 0 if none pays.

    Without that step: rows: how many nodes to verify; expected, rate: the tokens, and tokens per second. gain, seconds:
    expected extra tokens and extra time of the best further step; None where none is possible.
    """

    width: int
    rows: int
    expected: float
    rate: float
    gain: float | None
    seconds: float | None


def best_rates(
    values: np.ndarray, spent: np.ndarray, target_seconds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each case: the most expected tokens per second, how many nodes to verify for it, and the expected tokens.

    values: [cases, nodes], 0 for none. spent: [cases], seconds of this iteration before the target begins.
    target_seconds: T_target(1), T_target(2), …; the target adds a token of its own.
    """
    cases, count = len(values), min(values.shape[1], len(target_seconds) - 1)
    tokens = np.ones((cases, count + 1))
    tokens[:, 1:] = -np.sort(-values)[:, :count]
    tokens = tokens.cumsum(axis=1)
    speeds = tokens / (spent[:, None] + target_seconds[: count + 1])
    rows = speeds.argmax(axis=1)
    case = np.arange(cases)
    return speeds[case, rows], rows, tokens[case, rows]


def decide(
    tree: Tree,
    spent: float,
    target_seconds: np.ndarray,
    draft_seconds: Sequence[float],
    *,
    widths: Sequence[int] = WIDTHS,
    by_rank: Sequence[float],
) -> Decision:
    """Whether another draft step pays, and how wide; and how many nodes to verify without one.

    Optimal stopping, one step ahead: a step pays if the rate expected after it is above the present one. Its children's
    chances are those of the draft's tokens by rank (by_rank). draft_seconds: T_draft(1), T_draft(2), …; widths: how
    many nodes a step may forward.
    """
    waiting = [tree.value_of(index) for index in tree.waiting()[: max(widths, default=0)]]
    widths = [0, *(wide for wide in widths if wide <= len(waiting))]
    there, hoped = len(tree.nodes), np.outer(waiting, by_rank).ravel()
    values = np.zeros((len(widths), there + len(hoped)))
    values[:, :there] = [node.value for node in tree.nodes]
    for case, wide in enumerate(widths):
        new = wide * len(by_rank)
        values[case, there : there + new] = hoped[:new]
    seconds = np.array([draft_seconds[wide - 1] if wide else 0.0 for wide in widths])
    rates, rows, tokens = best_rates(values, spent + seconds, target_seconds)
    gain = after = None
    if len(widths) > 1:
        best = 1 + int(rates[1:].argmax())
        gain = float(tokens[best] - tokens[0])
        after = float(seconds[best] + target_seconds[rows[best]] - target_seconds[rows[0]])
    return Decision(widths[rates.argmax()], int(rows[0]), float(tokens[0]), float(rates[0]), gain, after)


def steady_width(tree: Tree, draft_seconds: Sequence[float]) -> int:
    """How many nodes a parallel draft forwards next: the width of most value per second; 0 where none is worth it."""
    if len(tree.nodes) >= MOST_NODES:
        return 0
    values = [value for value in map(tree.value_of, tree.waiting()[: WIDTHS[-1]]) if value >= LEAST_VALUE]
    widths = [wide for wide in WIDTHS[: None if tree.config.trees else 1] if wide <= len(values)]
    return max(widths, key=lambda wide: sum(values[:wide]) / draft_seconds[wide - 1], default=0)
