"""DuoTree's tree as an iteration records it."""

from collections.abc import Mapping, Sequence

from duoviz.decoding.duotree.tree import Tree, TreeNode
from duoviz.decoding.iteration import Candidate, Node

# Of the tree's tokens that were not verified, so many are recorded, those of greatest value.
RECORDED = 24


def as_node(tree: Tree, index: int, place: Mapping[int, int]) -> Node:
    """place: where its parent stands in the record."""
    node = tree.nodes[index]
    chance, parent = tree.chance_of(node), place.get(node.parent, -1)
    return Node(node.token, parent, node.source, q=node.q, chance=chance, step=node.step, was=node.place)


def first_tokens(tree: Tree) -> list[Candidate]:
    """The draft's first tokens, the most probable first."""
    firsts = [Candidate(node.token, node.q, False) for node in tree.nodes if node.parent < 0 and node.q is not None]
    return sorted(firsts, key=lambda candidate: -candidate.p)


def record_rest(tree: Tree, chosen: Sequence[int], start: int) -> tuple[list[Node], list[TreeNode]]:
    """The rest of the tree, for the record and as it is; all nodes know their place in the record now.

    start: how many nodes the record has before. Steps that ended while the target worked have given nodes that it
    did not verify.
    """
    place = {index: number for number, index in enumerate(chosen)}
    rest = [index for index in tree.chosen(len(chosen) + RECORDED) if index not in place]
    place |= {index: number for number, index in enumerate(rest, start)}
    nodes = [as_node(tree, index, place) for index in rest]
    for index, node in enumerate(tree.nodes):
        node.place = place.get(index)
    return nodes, [tree.nodes[index] for index in rest]


def mark_survivors(alive: Sequence[TreeNode], unverified: Sequence[TreeNode], rest: Sequence[Node]) -> None:
    """What led to the new root or is under it lives on, all else is gone."""
    alive_ids = set(map(id, alive))
    for node, recorded in zip(unverified, rest, strict=True):
        recorded.status = "pending" if id(node) in alive_ids else "discarded"
