"""Acceptance over chains and trees."""

import pytest
import torch

from duoviz.decoding.iteration import Node
from duoviz.decoding.sampling import Choices, Sampling
from duoviz.decoding.verification import Verdict, mark, verify


def chain(*tokens):
    return [Node(token, index - 1, "draft") for index, token in enumerate(tokens)]


def test_all_accepted():
    assert verify(chain(4, 5), [4, 5, 6]) == ([0, 1], 6, [])


def test_first_rejection_ends_the_walk():
    # The last own token agrees again, but hangs on a rejected one.
    assert verify(chain(4, 5, 6), [4, 9, 6, 7]) == ([0], 9, [1])


def test_nothing_drafted():
    assert verify([], [3]) == ([], 3, [])


def test_a_tree_follows_the_branch_that_is_the_targets():
    tree = [Node(4, -1, "draft"), Node(5, -1, "draft"), Node(6, 0, "draft"), Node(6, 1, "draft"), Node(7, 3, "draft")]
    assert verify(tree, [5, 0, 6, 0, 7, 8]) == ([1, 3, 4], 8, [])


def test_marks():
    tree = chain(4, 5, 6)
    mark(tree, Verdict([0], 9, [1]))
    assert [node.status for node in tree] == ["accepted", "rejected", "discarded"]


def test_exact_ties_go_to_the_lowest_id():
    logits = torch.tensor([[0.0, 2.0, 1.0, 2.0, 2.0], [3.0, 0.0, 1.0, 2.0, 3.0]], dtype=torch.float64)
    choices = Choices(logits, [7, 8], Sampling())
    assert [choices[0], choices[1]] == [1, 0] and [choices.gap(0), choices.gap(1)] == [0.0, 0.0]
    assert choices.probability(1, 3) == pytest.approx(float(logits[1].softmax(-1)[3]))
