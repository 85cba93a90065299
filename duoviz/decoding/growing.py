"""The tree that DuoTree grows: nodes by value, what is worth verifying, and whether another draft step is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from duoviz.decoding.chances import Chances
from duoviz.decoding.iteration import Node

# How many nodes the draft may forward in one step.
WIDTHS = (1, 2, 4)


@dataclass
class TreeNode:
    """chance: that the target writes the token after its parent; value: that it writes every token up to it.

    slot: of the draft's cache, None until the draft has forwarded the node. q: None for what a look-up found.
    """

    token: int
    parent: int
    depth: int
    source: str
    chance: float
    value: float
    q: float | None = None
    slot: int | None = None


class Tree:
    """Nodes, parents before children; parent −1 is the end of the text."""

    def __init__(self, chances: Chances, deepest: int, *, sampled: bool):
        """deepest: no node may lie below this depth; the text has no room for more. sampled: not greedy."""
        self.chances, self.deepest, self.sampled = chances, deepest, sampled
        self.nodes: list[TreeNode] = []
        self.places: dict[tuple[int, int], int] = {}

    def add(self, token: int, parent: int, chance: float, source: str, q: float | None = None) -> int | None:
        """Add a node, or raise the chance of the one that is there; its index, None where it would lie too deep."""
        depth = self.nodes[parent].depth + 1 if parent >= 0 else 1
        if depth > self.deepest:
            return None
        index = self.places.setdefault((parent, token), len(self.nodes))
        if index == len(self.nodes):
            self.nodes.append(TreeNode(token, parent, depth, source, chance, chance * self.value_of(parent), q))
            return index
        node = self.nodes[index]
        node.q = q if node.q is None else node.q
        if chance > node.chance:
            node.chance = chance
            for each in self.nodes[index:]:
                each.value = each.chance * self.value_of(each.parent)
        return index

    def value_of(self, index: int) -> float:
        return self.nodes[index].value if index >= 0 else 1.0

    def add_children(self, parent: int, tokens: Sequence[int], q: Sequence[float]) -> None:
        """The draft's best tokens after a node, best first."""
        for rank, (token, each) in enumerate(zip(tokens, q, strict=True)):
            if each > 0:
                self.add(token, parent, self.chances.drafted(rank, each, sampled=self.sampled), "draft", each)

    def add_chain(self, tokens: Sequence[int], matched: int) -> None:
        """What followed the text's last `matched` tokens elsewhere."""
        parent: int | None = -1
        for place, token in enumerate(tokens):
            parent = self.add(token, parent, self.chances.looked_up(matched, place), "prompt")
            if parent is None:
                return

    def waiting(self) -> list[int]:
        """Nodes that the draft can forward next and that may have children, those of greatest value first."""
        found = [
            index
            for index, node in enumerate(self.nodes)
            if node.slot is None
            and node.depth < self.deepest
            and (node.parent < 0 or self.nodes[node.parent].slot is not None)
        ]
        return sorted(found, key=lambda index: -self.nodes[index].value)

    def chosen(self, count: int) -> list[int]:
        """The nodes of greatest value, parents before children: a subtree, for value never grows along a path."""
        order = sorted(range(len(self.nodes)), key=lambda index: (-self.nodes[index].value, index))
        return sorted(order[:count])


def best_rate(values: np.ndarray, spent: float, target_seconds: np.ndarray) -> tuple[float, int]:
    """The most expected tokens a second, and how many nodes to verify for it.

    values: of all nodes, in any order. spent: seconds of this iteration before the target begins. target_seconds:
    T_target(1), T_target(2), …; the target adds a token of its own.
    """
    values = -np.sort(-values)[: len(target_seconds) - 1]
    tokens = 1 + np.concatenate([[0.0], np.cumsum(values)])
    speeds = tokens / (spent + target_seconds[: len(tokens)])
    rows = int(speeds.argmax())
    return float(speeds[rows]), rows


def best_width(
    tree: Tree, spent: float, target_seconds: np.ndarray, draft_seconds: Sequence[float], *, trees: bool
) -> tuple[int, int]:
    """How many nodes to forward in one more draft step, 0 where none pays; and how many to verify without one.

    Optimal stopping, one step ahead: a step pays where the rate that it is expected to make possible is above the
    present one. Its children are expected to be taken as often as the draft's tokens of their rank are.
    draft_seconds: T_draft(1), T_draft(2), …
    """
    values = np.array([node.value for node in tree.nodes])
    best, rows = best_rate(values, spent, target_seconds)
    waiting = [tree.nodes[index].value for index in tree.waiting()[: WIDTHS[-1]]]
    width = 0
    for wide in WIDTHS if trees else WIDTHS[:1]:
        if wide > len(waiting):
            break
        hoped = np.outer(waiting[:wide], tree.chances.by_rank if trees else tree.chances.by_rank[:1]).ravel()
        rate, _ = best_rate(np.concatenate([values, hoped]), spent + draft_seconds[wide - 1], target_seconds)
        if rate > best:
            best, width = rate, wide
    return width, rows


def as_nodes(tree: Tree, chosen: Sequence[int]) -> list[Node]:
    """The chosen nodes as a tree of their own, for the target."""
    place = {index: number for number, index in enumerate(chosen)}
    nodes = [tree.nodes[index] for index in chosen]
    return [Node(node.token, place.get(node.parent, -1), node.source, q=node.q) for node in nodes]


def best_tokens(score: Tensor, q: Tensor, count: int) -> tuple[list[int], list[float]]:
    """The `count` tokens of greatest score, with their q; both [vocab]."""
    order = score.topk(min(count, len(score))).indices
    return order.tolist(), q[order].tolist()
