"""The tree by value: what is chosen, and when another step pays, against every other choice."""

import itertools

import numpy as np
import pytest

from duoviz.decoding.chances import plain
from duoviz.decoding.duotree import as_nodes
from duoviz.decoding.growing import WIDTHS, Grown, Growth, Tree, best_choice, best_rates, steady_width
from duoviz.decoding.iteration import Span
from duoviz.decoding.sampling import Sampling
from duoviz.models.copying import ONCE, Match

FREE = np.full(40, 0.02)
BY_RANK = plain().by_rank


def matched(length):
    return Match(length, token=5, place=0, kind=ONCE)


def growth(deepest=9, *, text=1, trees=True):
    return Growth(chances=plain(), sampling=Sampling(), children=3, trees=trees, limit=text + deepest + 1)


def bare(deepest=9, *, text=(30,), trees=True):
    tree = Tree(growth(deepest, text=len(text), trees=trees))
    tree.move(text)
    return tree


def grown(deepest=9, **more):
    tree = bare(deepest, **more)
    tree.expand(-1, [5, 6, 7], [0.6, 0.2, 0.1])
    if deepest > 1:
        tree.expand(0, [8, 9], [0.5, 0.3])
    return tree


def test_values_are_products_along_the_path():
    tree = grown()
    for node in tree.nodes:
        assert node.value == pytest.approx(node.chance * (tree.nodes[node.parent].value if node.parent >= 0 else 1))
    assert [node.depth for node in tree.nodes] == [1, 1, 1, 2, 2]


def test_a_look_up_meets_the_drafts_tokens():
    tree = grown()
    before = tree.nodes[0].value
    tree.add_chain([5, 8, 11], matched(4))
    # The same tokens are the same nodes, with the greater chance; what hangs on them has values that follow.
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


def test_no_node_lies_below_the_room():
    tree = grown(deepest=1)
    tree.add_chain([5, 8, 11], matched(4))
    assert {node.depth for node in tree.nodes} == {1} and tree.waiting() == []
    empty = bare(deepest=0)
    empty.expand(-1, [5], [0.9])
    assert empty.nodes == [] and empty.waiting() == []
    assert best_choice(empty, 0.001, FREE, [0.001] * 8, by_rank=BY_RANK)[:2] == (0, 0)
    assert bare(deepest=0).waiting() == []


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


def test_what_a_step_gave_is_found_by_its_tokens_or_dropped():
    tree = grown()
    late = Grown(1, Span(0.0, 1.0, 3), [((5, 8), [12], [0.9]), ((6,), [14], [0.9]), ((5, 8, 12), [15], [0.5])])
    tree.move([5])
    tree.take(late, step=2)
    assert [(node.token, node.step) for node in tree.nodes] == [(8, None), (9, None), (12, 2), (15, 2)]
    other = grown()
    other.move([31])
    other.take(late, step=0)
    assert other.nodes == []


def test_trust_follows_what_a_source_is_worth():
    tree = grown()
    before = tree.nodes[0].value
    for _ in range(20):
        tree.trust.observe(tree.nodes[0].source, tree.nodes[0].chance, False)
    tree.set_values()
    assert tree.nodes[0].value < 0.6 * before
    assert tree.trust.factor("prompt") == 1


def test_the_choice_is_the_best_of_all_subtrees():
    tree = grown()
    tree.add_chain([20, 21, 22], matched(2))
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
    values, spent = np.array([[0.1, 0.9, 0.5, 0.3], [0.0, 0.6, 0.0, 0.1]]), np.array([0.003, 0.004])
    seconds = 0.02 + 0.004 * np.arange(40)
    for speed, rows, tokens, each, before in zip(*best_rates(values, spent, seconds), values, spent, strict=True):
        by_hand = [(1 + sum(sorted(each)[::-1][:m])) / (before + seconds[m]) for m in range(5)]
        assert speed == pytest.approx(max(by_hand)) and rows == by_hand.index(max(by_hand))
        assert tokens == pytest.approx(speed * (before + seconds[rows]))
    # Where rows cost nothing all are verified; where they are dear none is; never more than there are costs for.
    for costs, verified in ((FREE, [4, 2]), (FREE[:3], [2, 2]), (0.05 * np.arange(1, 41), [0, 0])):
        assert best_rates(values, spent, costs)[1].tolist() == verified


def test_drafting_goes_on_as_long_as_it_pays():
    cheap, dear = [0.0001] * 8, [0.05] * 8
    widths = [
        best_choice(grown(), 0.001, FREE, draft, widths=widths, by_rank=BY_RANK).width
        # A wide step that costs much more than a narrow one is not made.
        for draft, widths in ((cheap, WIDTHS), (cheap, [1]), (dear, WIDTHS), ([0.0001, *dear], WIDTHS), (cheap, []))
    ]
    assert widths == [4, 1, 0, 1, 0]
    choice = best_choice(grown(), 0.001, FREE, dear, by_rank=BY_RANK)
    # Why not: what the step would bring, and cost.
    assert 0 < choice.gain < 4 and choice.seconds == 0.05
    assert (choice.expected + choice.gain) / (0.051 + 0.02) < choice.rate
    # A step that brings less a second, its own and the longer check's, than the rate: then it is not made, else it is.
    rows = 0.02 + 0.001 * np.arange(40)
    for draft in (cheap, dear):
        for width in WIDTHS:
            choice = best_choice(grown(), 0.001, rows, draft, widths=[width], by_rank=BY_RANK)
            assert (choice.gain / choice.seconds > choice.rate) == bool(choice.width)
            assert choice.seconds >= draft[0]


def test_a_draft_beside_goes_on_until_nothing_is_worth_it():
    tree, steps = grown(), 0
    while width := steady_width(tree, [0.001, 0.0015, 0.0016, 0.0017]):
        assert width in WIDTHS
        for index in tree.waiting()[:width]:
            tree.expand(index, [1, 2, 3], [0.6, 0.2, 0.1])
        steps += 1
    assert 3 < steps < 100
    assert steady_width(bare(), [0.001] * 4) == 1 and steady_width(grown(trees=False), [1.0, 1.0, 1.0, 1.0]) == 1
