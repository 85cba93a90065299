"""The acceptance table: how often the target writes what a draft, by rank and q, or a look-up proposes."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from duoviz.errors import UserError
from duoviz.models.ngrams import KINDS, Match

# q is put into bins of these upper edges.
EDGES = (0.01, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)
# Temperatures at which draws with shared noise were counted; in between chances are interpolated. Greedy runs are
# counted apart: the draft's q is that of temperature 1 there.
TEMPERATURES = (0.4, 0.7, 1.0, 1.3)
MIDDLES = tuple((low + high) / 2 for low, high in zip((0.0, *EDGES[:-1]), EDGES, strict=True))
RANKS, LONGEST_MATCH, PLACES = 4, 4, 10
# The largest chance.
MOST = 0.98
# The draft's acceptance by rank, where no table was counted.
BY_RANK = (0.5, 0.12, 0.06, 0.03)
FILE = "chances.json"
# The chances of the draft's tokens by rank and bin of q, [RANKS][len(EDGES)].
Chances = Sequence[Sequence[float]]


@dataclass(frozen=True)
class AcceptanceTable:
    """How often the target writes what is proposed; each first axis is greedy, then with shared noise by temperature.

    drafted: [1 + len(TEMPERATURES)][RANKS][len(EDGES)], the draft's tokens by rank and bin of q.
    copied: [1 + len(TEMPERATURES)][len(KINDS)][LONGEST_MATCH][PLACES], looked-up tokens by match and position in it.
    by_rank: [RANKS], the draft's tokens of a rank, greedy. sureness: [len(EDGES)], the shares of positions whose best
    token's q is in each bin, greedy (the difficulty histogram).
    """

    drafted: Sequence[Chances]
    copied: Sequence[Sequence[Sequence[Sequence[float]]]]
    by_rank: Sequence[float]
    sureness: Sequence[float]

    def __post_init__(self) -> None:
        counted, bins = 1 + len(TEMPERATURES), len(EDGES)
        shapes = [np.shape(table) for table in vars(self).values()]
        copies = counted, len(KINDS), LONGEST_MATCH, PLACES
        if shapes != [(counted, RANKS, bins), copies, (RANKS,), (bins,)]:
            raise ValueError("the chance table has other ranks, bins, kinds or places than this version reads")
        if not all(0 <= np.min(table) <= np.max(table) <= 1 for table in vars(self).values()):
            raise ValueError("the chance table has chances that are none")

    def at(self, temperature: float) -> Chances:
        """`drafted` at a temperature."""
        if not temperature:
            return self.drafted[0]
        ranks = zip(*self.drafted[1:], strict=True)
        return [[interpolated(bins, TEMPERATURES, temperature) for bins in zip(*rank, strict=True)] for rank in ranks]

    def of_copied(self, match: Match, place: int, *, temperature: float) -> float:
        """The chance of the token at a position (from 0) of what followed the match, if those before it are right."""
        matched, place = min(match.length, LONGEST_MATCH), min(place, PLACES - 1)
        chances = [table[match.kind][matched - 1][place] for table in self.copied]
        return min(MOST, interpolated(chances, (0.0, *TEMPERATURES), temperature))

    def places(self) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Difficulty classes of positions, greedy: each one's share, and the chances of the draft's tokens by rank."""
        # How often the token of each further rank is right where the best one is wrong.
        rests = [chance / (1 - self.by_rank[0]) for chance in self.by_rank[1:]]
        kinds = [(best, *[(1 - best) * rest for rest in rests]) for best in self.drafted[0][0]]
        met = np.array(self.sureness)
        return tuple(zip((met / met.sum()).tolist(), kinds, strict=True))


def of_rank(chances: Chances, rank: int, q: float) -> float:
    """The chance of the draft's token of this rank (from 0) and probability; chances: see `AcceptanceTable.at`."""
    return min(MOST, interpolated(chances[min(rank, RANKS - 1)], MIDDLES, q))


def interpolated(values: Sequence[float], places: Sequence[float], place: float) -> float:
    """The value at a place between `places`, which ascend; beyond them the nearest one's."""
    upper = bisect_left(places, place)
    if upper in (0, len(places)):
        return values[min(upper, len(places) - 1)]
    weight = (place - places[upper - 1]) / (places[upper] - places[upper - 1])
    return values[upper - 1] + (values[upper] - values[upper - 1]) * weight


def plain() -> AcceptanceTable:
    """The table assumed for a draft without one: its probabilities are right, and look-ups often are."""
    table = [list(MIDDLES)] * RANKS
    copied = [[0.3] * PLACES, [0.5] * PLACES, *[[0.7] * PLACES] * (LONGEST_MATCH - 2)]
    counted = 1 + len(TEMPERATURES)
    return AcceptanceTable([table] * counted, [[copied] * len(KINDS)] * counted, BY_RANK, [1 / len(EDGES)] * len(EDGES))


def fitted_table(folder: Path | None) -> AcceptanceTable | None:
    """The table that lies with a draft; None where there is none. Raises UserError for a damaged one."""
    if folder is None or not (file := folder / FILE).exists():
        return None
    from duoviz.models.files import read_json

    try:
        return AcceptanceTable(**read_json(file))
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{file} is no table of chances that this version reads: remove it, or make it anew with "
            "`python -m duoviz.training chances`."
        ) from error
