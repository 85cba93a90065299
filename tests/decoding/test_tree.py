"""DuoTree's tree: values, what a look-up adds, a root that moves, and what is chosen, against every other choice."""

import itertools

import pytest

from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.iteration import Span
from duoviz.models.ngrams import ONCE, Match
from tests.decoding.trees import bare, grown


def matched(length):
    return Match(length, token=5, place=0, kind=ONCE)


def test_values_are_products_along_the_path():
    tree = grown()
    for node in tree.nodes:
        assert node.value == pytest.approx(node.chance * (tree.nodes[node.parent].value if node.parent >= 0 else 1))
    assert [node.depth for node in tree.nodes] == [1, 1, 1, 2, 2]


def test_a_look_up_meets_the_drafts_tokens():
    tree = grown()
    before = tree.nodes[0].value
    tree.add_chain([5, 8, 11], matched(4))
    # The same tokens are the same nodes, with the greater chance; the values under them follow.
    assert len(tree.nodes) == 6 and tree.nodes[0].value > before
    assert (tree.nodes[5].token, tree.nodes[5].parent, tree.nodes[5].source) == (11, 3, "prompt")
    assert tree.nodes[4].value == pytest.approx(tree.nodes[4].chance * tree.nodes[0].value)
    other = bare()
    other.add_chain([5], matched(1))
    other.expand(-1, [5], [0.6])
    assert len(other.nodes) == 1 and other.nodes[0].q == 0.6 and other.nodes[0].source == "prompt"


def test_what_stood_earlier_hangs_on_the_root_at_once():
    text = (3, 4, 5, 6, 7, 3, 4)
    assert [node.token for node in bare(text=text).nodes] == [5, 6, 7, 3, 4]
    assert bare(text=text, trees=False).nodes == []


def test_only_what_hangs_on_forwarded_nodes_waits():
    tree = bare()
    tree.add_chain([5, 8, 11], matched(4))
    assert tree.waiting() == [-1]
    tree.expand(-1, [], [])
    assert tree.waiting() == [0]
    tree.expand(0, [], [])
    assert tree.waiting() == [1]


def test_the_root_moves_and_its_subtree_lives_on():
    tree = grown()
    tree.expand(3, [12, 13], [0.9, 0.05])
    values = {node.token: node.value for node in tree.nodes}
    path = tree.move([5, 8])
    assert [node.token for node in path] == [5, 8] and tree.text == [30, 5, 8] and tree.expanded
    assert [(node.token, node.parent, node.depth) for node in tree.nodes] == [(12, -1, 1), (13, -1, 1)]
    assert tree.nodes[0].value == pytest.approx(values[12] / values[8]) and tree.path([12]) == [0]
    # A leaf as the root has nothing under it, and the draft has not forwarded it; nor a token that nobody guessed.
    assert [node.token for node in tree.move([13])] == [13] and not tree.expanded and tree.nodes == []
    assert tree.move([39]) == [] and tree.waiting() == [-1]


def test_what_a_step_gave_is_placed_by_its_tokens_or_dropped():
    tree = grown()
    late = Expansion(1, Span(0.0, 1.0, 3), [((5, 8), [12], [0.9]), ((6,), [14], [0.9]), ((5, 8, 12), [15], [0.5])])
    tree.move([5])
    tree.apply(late, step=2)
    assert [(node.token, node.step) for node in tree.nodes] == [(8, None), (9, None), (12, 2), (15, 2)]
    other = grown()
    other.move([31])
    other.apply(late, step=0)
    assert other.nodes == []


def test_the_choice_is_the_best_of_all_subtrees():
    tree = grown()
    tree.add_chain([20, 21, 22], matched(2))
    for count in range(len(tree.nodes) + 1):
        chosen = tree.chosen(count)
        best = max(
            sum(tree.nodes[index].value for index in choice)
            for choice in itertools.combinations(range(len(tree.nodes)), count)
        )
        assert sum(tree.nodes[index].value for index in chosen) == pytest.approx(best)
        # Parents before children.
        assert all(tree.nodes[index].parent in (-1, *chosen[:place]) for place, index in enumerate(chosen))
