"""DuoTree's policy: how many nodes are worth verifying, and whether another draft step pays before."""

from collections.abc import Sequence
from typing import NamedTuple

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


def best_rate(values: Sequence[float], spent: float, target_seconds: Sequence[float]) -> tuple[float, int, float]:
    """The most expected tokens per second, how many nodes to verify for it, and the expected tokens.

    values: of the nodes. spent: seconds of this iteration before the target begins. target_seconds: T_target(1),
    T_target(2), …; the target adds a token of its own.
    """
    tokens = expected = 1.0
    rate, best = tokens / (spent + target_seconds[0]), 0
    for rows, value in enumerate(sorted(values, reverse=True)[: len(target_seconds) - 1], 1):
        tokens += value
        if (after := tokens / (spent + target_seconds[rows])) > rate:
            rate, best, expected = after, rows, tokens
    return rate, best, expected


def decide(
    tree: Tree,
    spent: float,
    target_seconds: Sequence[float],
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
    values = [node.value for node in tree.nodes]
    rate, rows, tokens = best_rate(values, spent, target_seconds)
    further = []
    for wide in widths:
        if wide <= len(waiting):
            hoped = [value * chance for value in waiting[:wide] for chance in by_rank]
            further.append((*best_rate(values + hoped, spent + draft_seconds[wide - 1], target_seconds), wide))
    if not further:
        return Decision(0, rows, tokens, rate, None, None)
    after, more_rows, more_tokens, wide = max(further, key=lambda case: case[0])
    seconds = draft_seconds[wide - 1] + target_seconds[more_rows] - target_seconds[rows]
    return Decision(wide if after > rate else 0, rows, tokens, rate, more_tokens - tokens, seconds)


def steady_width(tree: Tree, draft_seconds: Sequence[float]) -> int:
    """How many nodes a parallel draft forwards next: the width of most value per second; 0 where none is worth it."""
    if len(tree.nodes) >= MOST_NODES:
        return 0
    values = [value for value in map(tree.value_of, tree.waiting()[: WIDTHS[-1]]) if value >= LEAST_VALUE]
    widths = [wide for wide in WIDTHS[: None if tree.config.trees else 1] if wide <= len(values)]
    return max(widths, key=lambda wide: sum(values[:wide]) / draft_seconds[wide - 1], default=0)
