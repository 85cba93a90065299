"""Where a draft sequence ends: by the chances of its tokens, which follow the run."""

import pickle

import pytest

from duoviz.decoding.acceptance_table import fitted_table, plain
from duoviz.decoding.budget import LengthPolicy
from duoviz.decoding.costs import ROW_COUNTS
from duoviz.decoding.iteration import Node
from duoviz.decoding.settings import Settings
from duoviz.folders import DRAFT_FOLDER


def test_where_chances_are_known_an_average_sequence_has_the_length_that_pays():
    """Tokens of chance 0.6 are let go on until the L-th, whichever way the first one counts."""
    for first, counted in ((True, 3), (False, 2)):
        most, rule = LengthPolicy(plain(), Settings()).bounds(3, 0.6, first=first)
        assert most == ROW_COUNTS[-1] - 1 and rule.least == pytest.approx(0.6**counted) and rule.first == first
    assert LengthPolicy(None, Settings()).bounds(3, 0.6, first=True) == (3, None)


def test_chances_follow_the_run():
    policy = LengthPolicy(plain(), Settings())
    tokens = [Node(1, -1, "draft", q=0.5, status=status) for status in ("accepted", "accepted", "discarded")]
    policy.observe(tokens)
    more = policy.bounds(3, 0.6, first=True)[1].factor
    policy.observe([Node(1, -1, "draft", q=0.5, status="rejected")] * 9)
    assert policy.bounds(3, 0.6, first=True)[1].factor < 1 < more == pytest.approx(10 / 9, abs=0.01)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_request_carries_no_more_of_the_table_than_the_draft_needs(temperature):
    table = fitted_table(DRAFT_FOLDER)
    _, rule = LengthPolicy(table, Settings(temperature=temperature)).bounds(3, 0.6, first=True)
    assert len(pickle.dumps(rule)) < 1500 < len(pickle.dumps(table))
