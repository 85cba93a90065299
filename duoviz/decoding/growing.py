"""The tree that DuoTree grows: nodes by value, what is worth another draft step, what is worth verifying."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from duoviz.decoding.budget import LiveCosts
from duoviz.decoding.chances import Chances
from duoviz.decoding.iteration import Node

# How many nodes the draft may forward in one step.
WIDTHS = (1, 2, 4)


@dataclass
class Grown:
    """A node: `value` is the chance that the target writes every token up to it.

    slot: of the draft's cache, None until the draft has forwarded the node. rank: among its siblings, from 0.
    """

    token: int
    parent: int
    depth: int
    q: float | None
    rank: int
    chance: float
    value: float
    source: str
    slot: int | None = None


@dataclass
class Tree:
    """Parents before children; −1 is the end of the text. deepest: no node may lie below it."""

    chances: Chances
    deepest: int
    nodes: list[Grown] = field(default_factory=list)
    below: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, token: int, parent: int, chance: float, *, rank: int, q: float | None, source: str) -> int | None:
        """Add a node, or raise the chance of the one that is there; its index, None where it would lie too deep."""
        above = self.nodes[parent] if parent >= 0 else None
        depth = above.depth + 1 if above else 1
        if depth > self.deepest:
            return None
        value = chance * (above.value if above else 1.0)
        known = self.below.get((parent, token))
        if known is None:
            self.below[parent, token] = len(self.nodes)
            self.nodes.append(Grown(token, parent, depth, q, rank, chance, value, source))
            return len(self.nodes) - 1
        node = self.nodes[known]
        node.q = q if node.q is None else node.q
        if chance > node.chance:
            self.revalue(known, chance)
        return known

    def revalue(self, index: int, chance: float) -> None:
        """Give a node another chance, and what hangs on it the values that follow."""
        self.nodes[index].chance = chance
        for node in self.nodes[index:]:
            node.value = node.chance * (self.nodes[node.parent].value if node.parent >= 0 else 1.0)

    def add_children(self, parent: int, tokens: Sequence[int], q: Sequence[float], *, sampled: bool) -> None:
        """The draft's best tokens after a node, best first."""
        for rank, (token, each) in enumerate(zip(tokens, q, strict=True)):
            if each > 0:
                self.add(token, parent, self.chances.drafted(rank, each, sampled=sampled), rank=rank, q=each, source="draft")

    def add_chain(self, tokens: Sequence[int], matched: int) -> None:
        """What followed the text's last `matched` tokens elsewhere: nodes that cost no draft step."""
        parent = -1
        for place, token in enumerate(tokens):
            parent = self.add(
                token, parent, self.chances.looked_up(matched, place), rank=0, q=None, source="prompt"
            )
            if parent is None:
                return

    def waiting(self) -> list[int]:
        """Nodes that the draft has not forwarded and that could have children, those of greatest value first."""
        found = [
            index
            for index, node in enumerate(self.nodes)
            if node.slot is None
            and node.depth < self.deepest
            and (node.parent < 0 or self.nodes[node.parent].slot is not None)
        ]
        return sorted(found, key=lambda index: -self.nodes[index].value)

    def chosen(self, count: int) -> list[int]:
        """The nodes of greatest value, parents before children: value never grows along a path."""
        order = sorted(range(len(self.nodes)), key=lambda index: (-self.nodes[index].value, index))
        return sorted(order[:count])


@dataclass(frozen=True)
class Rate:
    """What verifying `rows` nodes now would give: tokens a second, over all that this iteration will have taken."""

    speed: float
    rows: int


def best_rate(values: np.ndarray, spent: float, target_seconds: np.ndarray) -> Rate:
    """The number of nodes to verify with the most expected tokens a second.

    values: of all nodes, greatest first. spent: seconds of this iteration before the target begins. target_seconds:
    T_target(1), T_target(2), … The target adds a token of its own.
    """
    most = min(len(values), len(target_seconds) - 1)
    tokens = 1 + np.concatenate([[0.0], np.cumsum(values[:most])])
    speeds = tokens / (spent + target_seconds[: most + 1])
    rows = int(speeds.argmax())
    return Rate(float(speeds[rows]), rows)


def next_width(tree: Tree, spent: float, target_seconds: np.ndarray, costs: LiveCosts, context: int) -> tuple[int, Rate, Rate]:
    """How many nodes to forward in one more draft step, 0 to verify now; and the rates without and with that step.

    Optimal stopping, one step ahead: the step's children are expected to be as likely as children have been.
    """
    values = -np.sort([-node.value for node in tree.nodes])
    now = best_rate(values, spent, target_seconds)
    best = (0, now, now)
    waiting = [tree.nodes[index].value for index in tree.waiting()[: WIDTHS[-1]]]
    for width in WIDTHS:
        if width > len(waiting):
            break
        children = np.outer(waiting[:width], tree.chances.by_rank).ravel()
        after = best_rate(
            -np.sort(-np.concatenate([values, children])), spent + costs.draft_time(width, context), target_seconds
        )
        if after.speed > best[2].speed:
            best = (width, now, after)
    return best


def as_nodes(tree: Tree, chosen: Sequence[int]) -> list[Node]:
    """The chosen nodes as a tree of their own, for the target."""
    place = {index: number for number, index in enumerate(chosen)}
    return [
        Node(node.token, place.get(node.parent, -1), node.source, q=node.q)
        for node in (tree.nodes[index] for index in chosen)
    ]


def best_tokens(score: Tensor, q: Tensor, count: int) -> tuple[list[int], list[float]]:
    """The `count` tokens of greatest score, [vocab], with their q."""
    order = score.topk(min(count, len(score))).indices
    return order.tolist(), q[order].tolist()
