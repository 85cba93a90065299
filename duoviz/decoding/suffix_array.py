"""The suffix array of a sequence of numbers."""

import numpy as np

from duoviz.models.progress import Progress, no_progress


def suffix_array(values: np.ndarray, report: Progress = no_progress) -> np.ndarray:
    """Every place in the sequence, in the order of what begins there: int64 [n].

    values: whole numbers [n]. Prefix doubling (Manber and Myers 1993): places in the order of their first
    w numbers come into that of their first 2w by sorting the pairs of their rank and the rank of the
    place w further on. One sort of n pairs for each doubling up to the longest repeat.
    """
    size = len(values)
    order, rank = np.arange(size), np.unique(values, return_inverse=True)[1]
    width, distinct = 1, 0
    while distinct < size:
        report(distinct / size, f"Sorting {size:,} places")
        following = np.zeros(size, dtype=np.int64)
        # 0 is left for the end of the sequence, which comes before every number.
        following[:-width] = rank[width:] + 1
        pairs = rank * (size + 1) + following
        order = np.argsort(pairs)
        ordered = pairs[order]
        rank[order] = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
        width, distinct = 2 * width, int(rank[order[-1]]) + 1
    return order
