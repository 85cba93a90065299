"""The chance table: how often the target writes what the draft proposes, by rank and q, and what a look-up found."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# q is put into bins of these upper edges.
EDGES = (0.01, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)
# Temperatures that draws with shared noise are counted at; between them chances are interpolated.
TEMPERATURES = (0.4, 0.7, 1.0, 1.3)
MIDDLES = tuple((low + high) / 2 for low, high in zip((0.0, *EDGES[:-1]), EDGES, strict=True))
RANKS, LONGEST_MATCH, PLACES = 4, 4, 10
# No chance is certain.
MOST = 0.98
# Of the draft's tokens by rank, where nothing is known.
BY_RANK = (0.5, 0.12, 0.06, 0.03)
FILE = "chances.json"
# Tokens of either source that the run's own factor is worth before any was tested, and how long one counts.
PRIOR, FADING = 8.0, 0.99


@dataclass(frozen=True)
class Chances:
    """greedy: [RANKS][len(EDGES)]; sampled: the same at each of TEMPERATURES, with shared noise, q at that temperature;
    copied: [LONGEST_MATCH][PLACES], of a token after as many right ones; by_rank: of all the draft's tokens of a rank,
    [RANKS]; sureness: how many of the draft's best tokens are in each bin, greedy, as shares, [len(EDGES)].
    """

    greedy: Sequence[Sequence[float]]
    sampled: Sequence[Sequence[Sequence[float]]]
    copied: Sequence[Sequence[float]]
    by_rank: Sequence[float]
    sureness: Sequence[float]

    def __post_init__(self) -> None:
        bins = (len(EDGES),)
        shapes = [np.shape(each) for each in vars(self).values()]
        if shapes != [(RANKS, *bins), (len(TEMPERATURES), RANKS, *bins), (LONGEST_MATCH, PLACES), (RANKS,), bins]:
            raise ValueError("the chance table has other ranks, bins or places than this version reads")

    def drafted(self, rank: int, q: float, *, temperature: float) -> float:
        """The chance of the draft's token of this rank (from 0) and probability."""
        rank = min(rank, RANKS - 1)
        if not temperature:
            return min(MOST, interpolated(self.greedy[rank], MIDDLES, q))
        return min(
            MOST,
            interpolated([interpolated(table[rank], MIDDLES, q) for table in self.sampled], TEMPERATURES, temperature),
        )

    def places(self) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Kinds of places in a text, greedy: how often each is met, and the chances of the draft's tokens by rank."""
        # Of the places where the draft's best token is wrong, how often each next one is right.
        rests = [each / (1 - self.by_rank[0]) for each in self.by_rank[1:]]
        kinds = [(best, *[(1 - best) * rest for rest in rests]) for best in self.greedy[0]]
        met = np.array(self.sureness)
        return tuple(zip((met / met.sum()).tolist(), kinds, strict=True))

    def looked_up(self, matched: int, place: int) -> float:
        """The chance of the token at a place (from 0) after `matched` tokens that stood earlier too."""
        return min(MOST, self.copied[min(matched, LONGEST_MATCH) - 1][min(place, PLACES - 1)])


def interpolated(values: Sequence[float], places: Sequence[float], place: float) -> float:
    """The value at a place between `places`, which ascend; beyond them the nearest one's."""
    upper = bisect_left(places, place)
    if upper in (0, len(places)):
        return values[min(upper, len(places) - 1)]
    share = (place - places[upper - 1]) / (places[upper] - places[upper - 1])
    return values[upper - 1] + (values[upper] - values[upper - 1]) * share


class Trust:
    """How much oftener or rarer than the table says the target writes the tokens of a source in this run."""

    def __init__(self):
        self.expected: dict[str, float] = {}
        self.seen: dict[str, float] = {}

    def factor(self, source: str) -> float:
        return (PRIOR + self.seen.get(source, 0.0)) / (PRIOR + self.expected.get(source, 0.0))

    def observe(self, source: str, chance: float, taken: bool) -> None:
        """A token that was verified, after a verified one."""
        for counts, new in ((self.expected, chance), (self.seen, float(taken))):
            counts[source] = FADING * counts.get(source, 0.0) + new


def plain() -> Chances:
    """What is assumed of a draft without a table: that its probabilities are right, and look-ups often are."""
    table = [list(MIDDLES)] * RANKS
    copied = [[0.3] * PLACES, [0.5] * PLACES, *[[0.7] * PLACES] * (LONGEST_MATCH - 2)]
    return Chances(table, [table] * len(TEMPERATURES), copied, BY_RANK, [1 / len(EDGES)] * len(EDGES))


def fitted_chances(folder: Path | None) -> Chances | None:
    """The table that lies with a draft; None where there is none that can be read."""
    try:
        return Chances(**json.loads((folder / FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def chances_of(folder: Path | None) -> Chances:
    """The table that lies with a draft, or `plain`."""
    return fitted_chances(folder) or plain()
