"""Lossless acceptance: which drafted tokens are the target's own."""

from collections.abc import Sequence
from typing import NamedTuple

from duoviz.decoding.iteration import Node


class Verdict(NamedTuple):
    """path: indices of the accepted nodes, root first; own: the target's token after the path."""

    path: list[int]
    own: int


def verify(tree: Sequence[Node], own: Sequence[int]) -> Verdict:
    """Walk down the tree as long as a child is the target's own token.

    own[0] is the target's token after the verified text, own[i + 1] its token after node i. A
    drafted token is accepted exactly if it is the target's, so the text is vanilla's whatever was
    drafted. A chain is the tree with one branch.
    """
    path: list[int] = []
    place = -1
    while True:
        wanted = own[place + 1]
        child = next((i for i, node in enumerate(tree) if node.parent == place and node.token == wanted), None)
        if child is None:
            return Verdict(path, wanted)
        path.append(child)
        place = child


def mark(tree: Sequence[Node], path: Sequence[int], *, tested_at: int | None) -> None:
    """Set each node's status: accepted on the path, rejected where the target said otherwise, else discarded.

    tested_at: the node (or -1, the root) after which the target's token was none of the children;
    None where the walk ended at a leaf.
    """
    accepted = set(path)
    for index, node in enumerate(tree):
        if index in accepted:
            node.status = "accepted"
        elif tested_at is not None and node.parent == tested_at:
            node.status = "rejected"
        else:
            node.status = "discarded"
