"""Trees of DuoTree's, made by hand."""

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.duotree.tree import Tree, TreeConfig
from duoviz.decoding.sampling import Sampling


def bare(deepest=9, *, text=(30,), trees=True):
    """A tree with room for so many levels."""
    limit = len(text) + deepest + 1
    tree = Tree(TreeConfig(table=plain(), sampling=Sampling(), children=3, trees=trees, limit=limit))
    tree.move(text)
    return tree


def grown(*, trees=True):
    """One that the draft has begun to grow."""
    tree = bare(trees=trees)
    tree.expand(-1, [5, 6, 7], [0.6, 0.2, 0.1])
    tree.expand(0, [8, 9], [0.5, 0.3])
    return tree
