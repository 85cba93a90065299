"""A way to run: whether the draft works beside the target, and on which cores the target computes."""

from typing import NamedTuple


class Way(NamedTuple):
    """beside: the draft works at the same time, on cores of its own; else the two take turns.

    cores: the target's, which both use where they take turns. lent: those of a draft beside it, with which the target
    goes on in each iteration once the draft is done.
    """

    beside: bool
    cores: tuple[int, ...]
    lent: tuple[int, ...] = ()
