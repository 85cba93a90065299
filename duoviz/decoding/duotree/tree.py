"""DuoTree's tree of drafted and looked-up tokens, each with the chance that the target writes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from duoviz.decoding.acceptance_table import LONGEST_MATCH, PLACES, AcceptanceTable, of_rank
from duoviz.decoding.iteration import Span
from duoviz.decoding.sampling import Sampling
from duoviz.decoding.worker.protocol import Part
from duoviz.models.ngrams import Match, NGrams

# The root's index: the end of the text.
ROOT = -1


@dataclass(slots=True)
class TreeNode:
    """A token that may follow its parent.

    chance: that the target writes it after its parent, by the table; value: that it writes all tokens up to it, the
    product of the chances, as EAGLE-2 ranks nodes (Li et al. 2024, arXiv 2406.16858, §4.1).

    q: None if looked up. expanded: the draft has forwarded it and its children are there; slot: then its slot in the
    draft's cache (in the draft's copy of the tree). step: the draft step of this iteration that gave it. place: its
    index in the last iteration's record.
    """

    token: int
    parent: int
    depth: int
    source: str
    chance: float
    value: float
    q: float | None = None
    expanded: bool = False
    slot: int | None = None
    step: int | None = None
    place: int | None = None


@dataclass(frozen=True, kw_only=True)
class TreeConfig:
    """How a run's tree grows. children: of each node; trees: else it is one chain (the target reads no trees).

    limit: of the text's length. ends: end-of-text tokens, which have no children.
    """

    table: AcceptanceTable
    sampling: Sampling
    children: int
    trees: bool
    limit: int
    ends: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Expansion(Part):
    """A draft step's result: for each node that it forwarded, the draft's best next tokens with their q.

    A node is named by the tokens that lead to it from the root, at a text length of `position`.
    """

    position: int
    span: Span
    children: list[tuple[tuple[int, ...], list[int], list[float]]]


class Tree:
    """Nodes, parents before children, under a root that moves with the text."""

    def __init__(self, config: TreeConfig):
        self.config = config
        self.chances = config.table.at(config.sampling.temperature)
        self.ngrams = NGrams(LONGEST_MATCH)
        self.nodes: list[TreeNode] = []
        self.places: dict[tuple[int, int], int] = {}
        self.expanded = False
        # The greatest depth: one fewer than fits into the text, because the target adds a token of its own.
        self.deepest = config.limit - 1

    @property
    def text(self) -> list[int]:
        """The token ids up to the root."""
        return self.ngrams.tokens

    def add(
        self, token: int, parent: int, chance: float, source: str, *, q: float | None = None, step: int | None = None
    ) -> int | None:
        """Add a node, or raise the existing one's chance; returns its index, None where it does not fit."""
        depth, value = 1, chance
        if parent >= 0:
            above = self.nodes[parent]
            depth, value = above.depth + 1, chance * above.value
            if above.token in self.config.ends:
                return None
        if depth > self.deepest:
            return None
        index = self.places.setdefault((parent, token), len(self.nodes))
        if index == len(self.nodes):
            self.nodes.append(TreeNode(token, parent, depth, source, chance, value, q, step=step))
            return index
        node = self.nodes[index]
        if node.q is None:
            node.q = q
        if chance > node.chance:
            node.chance = chance
            self.set_values(index)
        return index

    def set_values(self, start: int = 0) -> None:
        for node in self.nodes[start:]:
            node.value = node.chance * self.value_of(node.parent)

    def value_of(self, index: int) -> float:
        """Of a node, or of the root."""
        return self.nodes[index].value if index >= 0 else 1.0

    def expand(self, parent: int, tokens: Sequence[int], q: Sequence[float], *, step: int | None = None) -> None:
        """The draft's best tokens after a node, best first."""
        for rank, (token, p) in enumerate(zip(tokens, q, strict=True)):
            if p > 0:
                self.add(token, parent, of_rank(self.chances, rank, p), "draft", q=p, step=step)
        self.close(parent)

    def close(self, parent: int) -> None:
        """Mark a node as expanded."""
        if parent >= 0:
            self.nodes[parent].expanded = True
        else:
            self.expanded = True

    def add_chain(self, tokens: Sequence[int], match: Match) -> None:
        """Add what followed an earlier occurrence of the text's last tokens."""
        parent, temperature = ROOT, self.config.sampling.temperature
        for place, token in enumerate(tokens):
            chance = self.config.table.of_copied(match, place, temperature=temperature)
            parent = self.add(token, parent, chance, "prompt")
            if parent is None:
                return

    def waiting(self) -> list[int]:
        """The nodes that the draft can forward next, by descending value."""
        nodes, deepest, ends = self.nodes, self.deepest, self.config.ends
        if not self.expanded:
            return [ROOT] if deepest > 0 else []
        leaves = [
            index
            for index, node in enumerate(nodes)
            if not node.expanded and node.depth < deepest
            if node.parent < 0 or nodes[node.parent].expanded
            if node.token not in ends
        ]
        return sorted(leaves, key=lambda index: nodes[index].value, reverse=True)

    def chosen(self, count: int) -> list[int]:
        """The nodes of greatest value, parents before children; a subtree, because value never grows along a path."""
        values = [node.value for node in self.nodes]
        # Of equals the first: reverse=True keeps their order, too.
        return sorted(sorted(range(len(values)), key=values.__getitem__, reverse=True)[:count])

    def path(self, tokens: Sequence[int]) -> list[int]:
        """The nodes that these tokens lead to from the root, as far as they exist."""
        path: list[int] = []
        for token in tokens:
            index = self.places.get((path[-1] if path else ROOT, token))
            if index is None:
                break
            path.append(index)
        return path

    def tokens_to(self, index: int) -> tuple[int, ...]:
        """The tokens from the root to a node, inclusive."""
        path: list[int] = []
        while index >= 0:
            path.append(self.nodes[index].token)
            index = self.nodes[index].parent
        return tuple(reversed(path))

    def apply(self, expansion: Expansion, *, step: int) -> None:
        """Add a step's result under those of its nodes that still exist; step: its number."""
        passed = tuple(self.text[expansion.position :])
        for tokens, children, q in expansion.children:
            left = tokens[len(passed) :]
            path = self.path(left)
            if tokens[: len(passed)] == passed and len(path) == len(left):
                self.expand(path[-1] if path else ROOT, children, q, step=step)

    def move(self, tokens: Sequence[int]) -> list[TreeNode]:
        """The text goes on with these tokens: the node that they lead to becomes the root of what is under it.

        Without such a node the tree is empty. What a look-up finds is added at no cost. Returns the nodes on the way to
        the new root, as far as they existed.
        """
        indices, nodes = self.path(tokens), self.nodes
        path = [nodes[index] for index in indices]
        self.nodes, self.places, self.expanded = [], {}, False
        self.ngrams.append(tokens)
        self.deepest -= len(tokens)
        if path and len(path) == len(tokens):
            self.expanded = path[-1].expanded
            self.plant(nodes, indices[-1], len(tokens))
        match = self.ngrams.look_up(self.text[-LONGEST_MATCH:], end=len(self.text))
        if match and self.config.trees:
            self.add_chain(self.text[match.place : match.place + PLACES], match)
        return path

    def plant(self, nodes: Sequence[TreeNode], root: int, depth: int) -> None:
        """Keep only the subtree under a node of this depth."""
        kept = {root: ROOT}
        for index, node in enumerate(nodes):
            if node.parent in kept:
                kept[index] = len(self.nodes)
                node.parent, node.depth, node.step = kept[node.parent], node.depth - depth, None
                self.places[node.parent, node.token] = len(self.nodes)
                self.nodes.append(node)
        self.set_values()
