"""The chance table: how often the target writes what the draft proposes, by rank and q, and what a look-up found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# q is put into bins of these upper edges.
EDGES = (0.01, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)
RANKS, LONGEST_MATCH, PLACES = 4, 4, 10
# No chance is certain.
MOST = 0.98
FILE = "chances.json"


@dataclass(frozen=True)
class Chances:
    """greedy, sampled: [RANKS][len(EDGES)], with shared noise where sampled; copied: [LONGEST_MATCH][PLACES]."""

    greedy: Sequence[Sequence[float]]
    sampled: Sequence[Sequence[float]]
    copied: Sequence[Sequence[float]]
    by_rank: Sequence[float]

    def drafted(self, rank: int, q: float, *, sampled: bool) -> float:
        """The chance of the draft's token of this rank (from 0) and probability."""
        table = (self.sampled if sampled else self.greedy)[min(rank, RANKS - 1)]
        return min(MOST, float(np.interp(q, MIDDLES, table)))

    def looked_up(self, matched: int, place: int) -> float:
        """The chance of the token at a place (from 0) after `matched` tokens that stood earlier too."""
        return min(MOST, self.copied[min(matched, LONGEST_MATCH) - 1][min(place, PLACES - 1)])


MIDDLES = tuple((low + high) / 2 for low, high in zip((0.0, *EDGES[:-1]), EDGES, strict=True))


def plain() -> Chances:
    """What is assumed of a draft without a table: its own probabilities."""
    table = [list(MIDDLES)] + [[middle * 0.8 for middle in MIDDLES]] * (RANKS - 1)
    copied = [[share] * PLACES for share in (0.2, 0.4, 0.6, 0.7)]
    return Chances(table, table, copied, (0.5, 0.12, 0.06, 0.03))


def chances_of(folder: Path) -> Chances:
    """The table that lies with a draft, or `plain`."""
    try:
        found = json.loads((folder / FILE).read_text())
        return Chances(*(found[name] for name in ("greedy", "sampled", "copied", "by_rank")))
    except (OSError, ValueError, KeyError, TypeError):
        return plain()
