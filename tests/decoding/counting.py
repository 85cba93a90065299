"""Targets of which every token is known beforehand."""

import torch

from tests.tables import TableModel
from tests.tiny import VOCABULARY, change_pair, tiny_engine


def counting_engine(length=VOCABULARY, *, eos=frozenset()):
    """A target that counts to `length` − 1 and begins again."""
    after = 10 * torch.eye(length, dtype=torch.float64).roll(1, dims=1)
    target = TableModel(after.expand(length, length, length))
    target.context_limit, target.vocab_size = 200, length
    return change_pair(tiny_engine(eos=eos), target=target)
