"""A pair whose target counts its forwards."""

import torch

from tests.tables import TableModel
from tests.tiny import tiny_pair

NONE = frozenset()


def counting_pair(length, *, eos=NONE):
    """A target that counts to `length` − 1 and begins again."""
    pair = tiny_pair(eos=eos)
    after = 10 * torch.eye(length, dtype=torch.float64).roll(1, dims=1)
    pair.target = TableModel(after.expand(length, length, length))
    pair.target.context_limit = 200
    return pair
