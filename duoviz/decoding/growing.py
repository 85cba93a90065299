"""The tree that DuoTree grows: nodes by value, what is worth verifying, and whether another draft step is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from duoviz.decoding.budget import ROW_COUNTS
from duoviz.decoding.chances import LONGEST_MATCH, PLACES, Chances, Trust, corrected
from duoviz.decoding.iteration import Span
from duoviz.decoding.sampling import Sampling
from duoviz.models.copying import Match, NGrams

# How many nodes the draft may forward in one step.
WIDTHS = (1, 2, 4)
# The most tokens that are verified at once where nobody says otherwise; the target adds a row of its own.
MOST_VERIFIED = ROW_COUNTS[-1] - 1
# The root's index: the end of the text.
ROOT = -1
# A draft beside the target stops at so many nodes, or where the best of them has less value than this.
MOST_NODES, LEAST_VALUE = 192, 0.02


@dataclass
class TreeNode:
    """chance: that the target writes the token after its parent; value: that it writes every token up to it.

    q: None for what a look-up found. expanded: whether the draft has forwarded the node, and its children are
    there; slot: of the draft's cache then, in the draft's own copy of the tree. step: the draft step of this
    iteration that gave it; place: its number in the last iteration's record. None where there is none.
    """

    token: int
    parent: int
    depth: int
    source: str
    chance: float
    value: float = 0.0
    q: float | None = None
    expanded: bool = False
    slot: int | None = None
    step: int | None = None
    place: int | None = None


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a run's tree grows. children: of each node; trees: whether the target can check a tree, else it is one chain.

    limit: the length that the text may have.
    """

    chances: Chances
    sampling: Sampling
    children: int
    trees: bool
    limit: int


@dataclass(frozen=True)
class Grown:
    """What a draft step gave: under each node that it forwarded, the draft's best tokens with their q.

    A node is named by the tokens that lead to it from the root that the tree had when the text had `position` tokens.
    """

    position: int
    span: Span
    children: list[tuple[tuple[int, ...], list[int], list[float]]]


class Tree:
    """Nodes, parents before children, under a root that moves with the text."""

    def __init__(self, growth: Growth):
        self.growth = growth
        self.known = NGrams(LONGEST_MATCH)
        self.nodes: list[TreeNode] = []
        self.places: dict[tuple[int, int], int] = {}
        self.expanded = False
        self.trust = Trust()

    @property
    def text(self) -> list[int]:
        return self.known.tokens

    @property
    def deepest(self) -> int:
        """No node lies deeper: the target adds a token of its own, so one fewer than the text has room for."""
        return self.growth.limit - len(self.text) - 1

    def add(self, token: int, parent: int, chance: float, source: str, **more) -> int | None:
        """Add a node, or raise the chance of the one that is there; its index, None where it would lie too deep."""
        depth = self.nodes[parent].depth + 1 if parent >= 0 else 1
        if depth > self.deepest:
            return None
        index = self.places.setdefault((parent, token), len(self.nodes))
        if index == len(self.nodes):
            node = TreeNode(token, parent, depth, source, chance, **more)
            self.nodes.append(node)
            self.set_value(node)
            return index
        node = self.nodes[index]
        if node.q is None:
            node.q = more.get("q")
        if chance > node.chance:
            node.chance = chance
            self.set_values(index)
        return index

    def chance_of(self, node: TreeNode) -> float:
        """The node's chance in this run: the table's, as far as it has come true so far."""
        return corrected(node.chance, self.trust.factor(node.source))

    def set_value(self, node: TreeNode) -> None:
        node.value = self.chance_of(node) * self.value_of(node.parent)

    def set_values(self, start: int = 0) -> None:
        for node in self.nodes[start:]:
            self.set_value(node)

    def value_of(self, index: int) -> float:
        return self.nodes[index].value if index >= 0 else 1.0

    def is_expanded(self, index: int) -> bool:
        return self.nodes[index].expanded if index >= 0 else self.expanded

    def expand(self, parent: int, tokens: Sequence[int], q: Sequence[float], *, step: int | None = None) -> None:
        """The draft's best tokens after a node, best first."""
        for rank, (token, each) in enumerate(zip(tokens, q, strict=True)):
            if each > 0:
                chance = self.growth.chances.of_drafted(rank, each, temperature=self.growth.sampling.temperature)
                self.add(token, parent, chance, "draft", q=each, step=step)
        self.close(parent)

    def close(self, parent: int) -> None:
        """All children of a node that the draft proposes are there."""
        if parent >= 0:
            self.nodes[parent].expanded = True
        else:
            self.expanded = True

    def add_chain(self, tokens: Sequence[int], match: Match) -> None:
        """What followed the text's last tokens where they stood earlier."""
        parent, temperature = ROOT, self.growth.sampling.temperature
        for place, token in enumerate(tokens):
            chance = self.growth.chances.of_copied(match, place, temperature=temperature)
            parent = self.add(token, parent, chance, "prompt")
            if parent is None:
                return

    def waiting(self) -> list[int]:
        """Nodes that the draft can forward next and that may have children, those of greatest value first."""
        if not self.expanded:
            return [ROOT] if self.deepest > 0 else []
        found = [
            index
            for index, node in enumerate(self.nodes)
            if not node.expanded and node.depth < self.deepest and self.is_expanded(node.parent)
        ]
        return sorted(found, key=lambda index: -self.nodes[index].value)

    def chosen(self, count: int) -> list[int]:
        """The nodes of greatest value, parents before children: a subtree, for value never grows along a path."""
        order = sorted(range(len(self.nodes)), key=lambda index: (-self.nodes[index].value, index))
        return sorted(order[:count])

    def path(self, tokens: Sequence[int]) -> list[int]:
        """The nodes that these tokens lead to from the root, as far as there are any."""
        found: list[int] = []
        for token in tokens:
            index = self.places.get((found[-1] if found else ROOT, token))
            if index is None:
                break
            found.append(index)
        return found

    def tokens_to(self, index: int) -> tuple[int, ...]:
        """The tokens from the root to a node, its own the last."""
        path: list[int] = []
        while index >= 0:
            path.append(self.nodes[index].token)
            index = self.nodes[index].parent
        return tuple(reversed(path))

    def take(self, grown: Grown, *, step: int) -> None:
        """Hang on the tree what a step gave, as far as its parents are still there; step: its number."""
        passed = tuple(self.text[grown.position :])
        for tokens, children, q in grown.children:
            left = tokens[len(passed) :]
            path = self.path(left)
            if tokens[: len(passed)] == passed and len(path) == len(left):
                self.expand(path[-1] if path else ROOT, children, q, step=step)

    def move(self, tokens: Sequence[int]) -> list[TreeNode]:
        """The text goes on with these tokens: the node that they lead to is the root, with its subtree.

        Where there is no such node the root is bare. What a look-up finds is added, which costs no step. Returns the
        nodes on the way to the new root, as far as there were any.
        """
        found = self.path(tokens)
        path, nodes = [self.nodes[index] for index in found], self.nodes
        self.nodes, self.places, self.expanded = [], {}, False
        self.known.append(tokens)
        if path and len(path) == len(tokens):
            self.expanded = path[-1].expanded
            self.plant(nodes, found[-1], len(tokens))
        match = self.known.look_up(self.text[-LONGEST_MATCH:], end=len(self.text))
        if match and self.growth.trees:
            self.add_chain(self.text[match.place : match.place + PLACES], match)
        return path

    def plant(self, nodes: Sequence[TreeNode], root: int, depth: int) -> None:
        """The subtree under a node of this depth is all that is left."""
        kept = {root: ROOT}
        for index, node in enumerate(nodes):
            if node.parent in kept:
                kept[index] = len(self.nodes)
                node.parent, node.depth, node.step = kept[node.parent], node.depth - depth, None
                self.places[node.parent, node.token] = len(self.nodes)
                self.nodes.append(node)
        self.set_values()


class Choice(NamedTuple):
    """What is worth it now. width: how many nodes to forward in one more draft step, 0 where none pays.

    rows: how many nodes to verify without that step; expected, rate: the tokens and the tokens a second then. gain:
    how many more tokens the best further step would bring, and seconds: what that costs, the step and the longer
    verification; None where none is possible.
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
    """In each case: the most expected tokens a second, how many nodes to verify for it, and the expected tokens.

    values: [cases, nodes], in any order; a node of value 0 is none. spent: [cases], seconds of this iteration before
    the target begins. target_seconds: T_target(1), T_target(2), …; the target adds a token of its own.
    """
    cases, count = len(values), min(values.shape[1], len(target_seconds) - 1)
    tokens = np.ones((cases, count + 1))
    tokens[:, 1:] = -np.sort(-values)[:, :count]
    tokens = tokens.cumsum(axis=1)
    speeds = tokens / (spent[:, None] + target_seconds[: count + 1])
    rows = speeds.argmax(axis=1)
    case = np.arange(cases)
    return speeds[case, rows], rows, tokens[case, rows]


def best_choice(
    tree: Tree,
    spent: float,
    target_seconds: np.ndarray,
    draft_seconds: Sequence[float],
    *,
    widths: Sequence[int] = WIDTHS,
    by_rank: Sequence[float],
    patience: float = 1.0,
) -> Choice:
    """Whether another draft step pays, and how wide; and how many nodes to verify without one.

    Optimal stopping, one step ahead: a step pays where the rate that it is expected to make possible is above the
    present one. Its children are expected to be taken as often as the draft's tokens of their rank are (by_rank).
    draft_seconds: T_draft(1), T_draft(2), …; widths: how many nodes a step may forward. patience: how much of what a
    step brings counts; less than 1 where the draft makes the step meanwhile if the target does not wait for it.
    """
    waiting = [tree.value_of(index) for index in tree.waiting()[: max(widths, default=0)]]
    widths = [0, *(wide for wide in widths if wide <= len(waiting))]
    there, hoped = len(tree.nodes), np.outer(waiting, by_rank).ravel()
    values = np.zeros((len(widths), there + len(hoped)))
    values[:, :there] = [node.value for node in tree.nodes]
    for case, wide in enumerate(widths):
        new = wide * len(by_rank)
        values[case, there : there + new] = patience * hoped[:new]
    seconds = np.array([draft_seconds[wide - 1] if wide else 0.0 for wide in widths])
    rates, rows, tokens = best_rates(values, spent + seconds, target_seconds)
    gain = after = None
    if len(widths) > 1:
        best = 1 + int(rates[1:].argmax())
        more, longer = tokens[best], rows[best]
        if patience < 1:
            new = widths[best] * len(by_rank)
            values[best, there : there + new] = hoped[:new]
            _, (longer,), (more,) = best_rates(values[[best]], spent + seconds[[best]], target_seconds)
        gain = float(more - tokens[0])
        after = float(seconds[best] + target_seconds[longer] - target_seconds[rows[0]])
    return Choice(widths[rates.argmax()], int(rows[0]), float(tokens[0]), float(rates[0]), gain, after)


def steady_width(tree: Tree, draft_seconds: Sequence[float]) -> int:
    """How many nodes to forward in the next step of a draft that grows beside the target: 0 where nothing is worth it.

    The width of the most value a second.
    """
    if len(tree.nodes) >= MOST_NODES:
        return 0
    values = [value for value in map(tree.value_of, tree.waiting()[: WIDTHS[-1]]) if value >= LEAST_VALUE]
    widths = [wide for wide in WIDTHS[: None if tree.growth.trees else 1] if wide <= len(values)]
    return max(widths, key=lambda wide: sum(values[:wide]) / draft_seconds[wide - 1], default=0)
