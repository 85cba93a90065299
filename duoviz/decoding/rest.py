"""REST: propose a tree of what followed the text's last tokens in a datastore of other texts."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import VERIFYING, Method, Proposer

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan

# Tokens read of a continuation, as published.
DEPTH = 10


class Retrieval(Drafter):
    """Propose the most frequent continuations of the longest suffix of the text that a datastore has.

    He et al. 2023 (arXiv 2311.08252, §3). A target that cannot read trees gets the most frequent branch.
    """

    def __init__(self, plan: RunPlan):
        assert plan.datastore
        self.settings, self.pair, self.datastore, self.matched = plan.settings, plan.pair, plan.datastore, []

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        settings, target, depth = self.settings, self.pair.target, min(DEPTH, longest)
        length, continuations = self.datastore.continuations(
            text, longest=settings.rest_longest, shortest=settings.rest_shortest, depth=depth
        )
        self.matched = text[len(text) - length :]
        size = min(settings.rest_tokens, target.context_limit - len(text))
        breadth = settings.rest_tokens if target.supports_tree else 1
        ends, vocabulary = self.pair.eos, self.datastore.vocabulary
        return frequent_tree(continuations, size=size, breadth=breadth, vocabulary=vocabulary, ends=ends)

    def observe(self, text, iteration, target_tokens) -> None:
        iteration.matched = self.matched


def frequent_tree(
    continuations: np.ndarray, *, size: int, breadth: int, vocabulary: int, ends: frozenset[int] = frozenset()
) -> list[Node]:
    """The `size` most frequent nodes of the trie of continuations, the shallower of equally frequent ones.

    continuations: token ids [occurrences, depth], sorted; a number not below `vocabulary` ends its row. breadth: most
    children of a node. ends: tokens without children. Returns parents before children, frequent siblings first.
    """
    occurrences, depth = continuations.shape
    tree: list[Node] = []
    # A node is a run of rows that begin alike; it waits as (-count, level, first row, parent).
    waiting: list[tuple[int, int, int, int]] = []

    def add_children(first: int, count: int, level: int, parent: int) -> None:
        if level == depth:
            return
        for many, begin in runs(continuations[first : first + count, level], vocabulary)[:breadth]:
            heappush(waiting, (-many, level, first + begin, parent))

    add_children(0, occurrences, 0, -1)
    while waiting and len(tree) < size:
        # A child never counts more than its parent, so the most frequent node's parent is in the tree.
        less, level, first, parent = heappop(waiting)
        tree.append(Node(int(continuations[first, level]), parent, "datastore", count=-less))
        if tree[-1].token not in ends:
            add_children(first, -less, level + 1, len(tree) - 1)
    return tree


def runs(column: np.ndarray, vocabulary: int) -> list[tuple[int, int]]:
    """(length, start) of each run of a token in a sorted column, longest first; other numbers are left out."""
    starts = np.flatnonzero(np.diff(column.astype(np.int64), prepend=-1))
    lengths = np.diff(starts, append=len(column))
    known = column[starts] < vocabulary
    starts, lengths = starts[known], lengths[known]
    order = np.argsort(-lengths, kind="stable")
    return list(zip(lengths[order].tolist(), starts[order].tolist(), strict=True))


DATASTORE = Proposer(
    id="datastore",
    token="token from the datastore",
    origin="from the datastore",
    counts="how often the token occurs there in the datastore",
)

REST = Method(
    id="rest",
    title="REST",
    name="REST",
    about="Proposes a tree of what followed the last tokens in a datastore of other texts; no draft model.",
    drafter=Retrieval,
    proposers=(DATASTORE,),
    settings=("rest_datastore", "rest_longest", "rest_shortest", "rest_tokens", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="from the datastore, now checked",
    verified="{end} occurred in the datastore, followed by {tokens:# token|# tokens} in {branches:# branch|# branches}",
    nothing="The last tokens do not occur in the datastore",
)
