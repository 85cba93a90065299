"""The tree by value: what is chosen, and when another step pays, against every other choice."""

import itertools

import numpy as np
import pytest

from duoviz.decoding.chances import plain
from duoviz.decoding.growing import Tree, as_nodes, best_rate, best_width

FREE = np.full(40, 0.02)


def grown(deepest=9):
    tree = Tree(plain(), deepest, sampled=False)
    tree.add_children(-1, [5, 6, 7], [0.6, 0.2, 0.1])
    tree.nodes[0].slot = 3
    tree.add_children(0, [8, 9], [0.5, 0.3])
    return tree


def test_values_are_products_along_the_path():
    tree = grown()
    for node in tree.nodes:
        assert node.value == pytest.approx(node.chance * (tree.nodes[node.parent].value if node.parent >= 0 else 1))
    assert [node.depth for node in tree.nodes] == [1, 1, 1, 2, 2]


def test_a_look_up_meets_the_drafts_tokens():
    tree = grown()
    before = tree.nodes[0].value
    tree.add_chain([5, 8, 11], matched=4)
    # The same tokens are the same nodes, with the greater chance; what hangs on them has values that follow.
    assert len(tree.nodes) == 6 and tree.nodes[0].value > before
    assert (tree.nodes[5].token, tree.nodes[5].parent, tree.nodes[5].source) == (11, 3, "prompt")
    assert tree.nodes[4].value == pytest.approx(tree.nodes[4].chance * tree.nodes[0].value)
    other = Tree(plain(), 9, sampled=False)
    other.add_chain([5], matched=1)
    other.add_children(-1, [5], [0.6])
    assert len(other.nodes) == 1 and other.nodes[0].q == 0.6 and other.nodes[0].source == "prompt"


def test_no_node_lies_below_the_room():
    tree = grown(deepest=1)
    tree.add_chain([5, 8, 11], matched=4)
    assert {node.depth for node in tree.nodes} == {1} and tree.waiting() == []
    empty = Tree(plain(), 0, sampled=False)
    empty.add_children(-1, [5], [0.9])
    assert empty.nodes == [] and best_width(empty, 0.001, FREE, [0.001] * 8, trees=True) == (0, 0)


def test_only_what_hangs_on_forwarded_nodes_waits():
    tree = Tree(plain(), 9, sampled=False)
    tree.add_chain([5, 8, 11], matched=4)
    assert tree.waiting() == [0]
    tree.nodes[0].slot = 3
    assert tree.waiting() == [1]


def test_the_choice_is_the_best_of_all_subtrees():
    tree = grown()
    tree.add_chain([20, 21, 22], matched=2)
    for count in range(len(tree.nodes) + 1):
        chosen = tree.chosen(count)
        nodes = as_nodes(tree, chosen)
        assert all(node.parent < place for place, node in enumerate(nodes))
        best = max(
            sum(tree.nodes[index].value for index in each)
            for each in itertools.combinations(range(len(tree.nodes)), count)
        )
        assert sum(tree.nodes[index].value for index in chosen) == pytest.approx(best)
        assert all(tree.nodes[index].parent in (-1, *chosen) for index in chosen)


def test_the_rate_is_the_best_over_all_counts():
    values = np.array([0.1, 0.9, 0.5, 0.3])
    seconds = 0.02 + 0.004 * np.arange(40)
    speed, rows = best_rate(values, 0.003, seconds)
    by_hand = [(1 + sum(sorted(values)[::-1][:m])) / (0.003 + seconds[m]) for m in range(5)]
    assert speed == pytest.approx(max(by_hand)) and rows == by_hand.index(max(by_hand))
    # Where rows cost nothing all are verified; where they are dear none is; never more than there are costs for.
    assert best_rate(values, 0.003, FREE)[1] == 4 and best_rate(values, 0.003, FREE[:3])[1] == 2
    assert best_rate(values, 0.003, 0.05 * np.arange(1, 41))[1] == 0


def test_drafting_goes_on_as_long_as_it_pays():
    cheap, dear = [0.0001] * 8, [0.05] * 8
    assert best_width(grown(), 0.001, FREE, cheap, trees=True)[0] == 4
    assert best_width(grown(), 0.001, FREE, cheap, trees=False)[0] == 1
    assert best_width(grown(), 0.001, FREE, dear, trees=True)[0] == 0
    # A wide step that costs much more than a narrow one is not made.
    assert best_width(grown(), 0.001, FREE, [0.0001, 0.05, 0.05, 0.05], trees=True)[0] == 1
