"""Where a run computes: whether draft and target work at the same time, and on which cores."""

from typing import NamedTuple


class Placement(NamedTuple):
    """beside: the draft works in parallel to the target, on cores of its own; else the two take turns.

    cores: the target's; shared by both where they take turns. borrowed: the parallel draft's cores, which the target
    takes over in each iteration once the draft is done.
    """

    beside: bool
    cores: tuple[int, ...]
    borrowed: tuple[int, ...] = ()
