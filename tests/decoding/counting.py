"""Targets of which every token is known beforehand."""

import torch

from tests.tables import TableModel
from tests.tiny import VOCABULARY, tiny_pair

NONE = frozenset()


def counting_pair(length, *, eos=NONE):
    """A target that counts to `length` − 1 and begins again."""
    pair = tiny_pair(eos=eos)
    after = 10 * torch.eye(length, dtype=torch.float64).roll(1, dims=1)
    pair.target = TableModel(after.expand(length, length, length))
    pair.target.context_limit = 200
    return pair


def saying(pair, token):
    """The pair, with a target that writes this token only."""
    row = torch.zeros(VOCABULARY, dtype=torch.float64)
    row[token] = 10
    pair.target = TableModel(row.expand(VOCABULARY, VOCABULARY, VOCABULARY))
    pair.target.vocab_size = VOCABULARY
    return pair
