"""DuoTree's policy: how much is verified, and when another step pays, against every other choice."""

import pytest

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.duotree.policy import WIDTHS, best_rate, decide, steady_width
from tests.decoding.trees import bare, grown

FREE = [0.02] * 40
BY_RANK = plain().by_rank


def test_the_rate_is_the_best_over_all_counts():
    seconds = [0.02 + 0.004 * rows for rows in range(40)]
    for chances, before in (([0.1, 0.9, 0.5, 0.3], 0.003), ([0.6, 0.1], 0.004), ([], 0.001)):
        speed, rows, tokens = best_rate(chances, before, seconds)
        by_hand = [(1 + sum(sorted(chances)[::-1][:m])) / (before + seconds[m]) for m in range(1 + len(chances))]
        assert speed == pytest.approx(max(by_hand)) and rows == by_hand.index(max(by_hand))
        assert tokens == pytest.approx(speed * (before + seconds[rows]))
    # Where rows cost nothing all are verified; where they are dear none is; never more than there are costs for.
    for costs, verified in ((FREE, 4), (FREE[:3], 2), ([0.05 * rows for rows in range(1, 41)], 0)):
        assert best_rate([0.9, 0.5, 0.3, 0.1], 0.003, costs)[1] == verified


def test_drafting_goes_on_as_long_as_it_pays():
    cheap, dear = [0.0001] * 8, [0.05] * 8
    widths = [
        decide(grown(), 0.001, FREE, draft, widths=widths, by_rank=BY_RANK).width
        # A wide step that costs much more than a narrow one is not made.
        for draft, widths in ((cheap, WIDTHS), (cheap, [1]), (dear, WIDTHS), ([0.0001, *dear], WIDTHS), (cheap, []))
    ]
    assert widths == [4, 1, 0, 1, 0]
    decision = decide(grown(), 0.001, FREE, dear, by_rank=BY_RANK)
    # Why not: what the step would bring, and cost.
    assert 0 < decision.gain < 4 and decision.seconds == 0.05
    assert (decision.expected + decision.gain) / (0.051 + 0.02) < decision.rate
    # A step that brings less a second, its own and the longer check's, than the rate: then it is not made, else it is.
    rows = [0.02 + 0.001 * count for count in range(40)]
    for draft in (cheap, dear):
        for width in WIDTHS:
            decision = decide(grown(), 0.001, rows, draft, widths=[width], by_rank=BY_RANK)
            assert (decision.gain / decision.seconds > decision.rate) == bool(decision.width)
            assert decision.seconds >= draft[0]


def test_a_draft_beside_goes_on_until_nothing_is_worth_it():
    tree, steps = grown(), 0
    while width := steady_width(tree, [0.001, 0.0015, 0.0016, 0.0017]):
        assert width in WIDTHS
        for index in tree.waiting()[:width]:
            tree.expand(index, [1, 2, 3], [0.6, 0.2, 0.1])
        steps += 1
    assert 3 < steps < 100
    assert steady_width(bare(), [0.001] * 4) == 1 and steady_width(grown(trees=False), [1.0, 1.0, 1.0, 1.0]) == 1


def test_where_there_is_no_room_nothing_is_drafted_or_verified():
    assert decide(bare(deepest=0), 0.001, FREE, [0.001] * 8, by_rank=BY_RANK)[:2] == (0, 0)
