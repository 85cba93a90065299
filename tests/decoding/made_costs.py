"""Cost models made up for tests."""

from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS, CostModel

SHORT, LONG = CONTEXTS


def costs(target=0.01, draft=0.002, slope=0.0):
    times = tuple(target + slope * rows for rows in ROW_COUNTS)
    return CostModel((times, tuple(2 * t for t in times)), ((draft,) * 8, (draft,) * 8))
