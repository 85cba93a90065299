"""The chance table, fitted on held-out self-chat: how often the target writes what the draft proposes."""

import sys
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from duoviz.decoding.acceptance_table import EDGES, LONGEST_MATCH, MIDDLES, PLACES, RANKS, TEMPERATURES, AcceptanceTable
from duoviz.decoding.sampling import Sampling, scores, tempered
from duoviz.models.language_model import LanguageModel, ids_of
from duoviz.models.ngrams import KINDS
from duoviz.training.copying import answer_logits, matches
from duoviz.training.corpus import Row

# So many places, since their noise is kept from one temperature to the next.
AT_ONCE = 16
# A bin with few tokens leans towards its q, as if so many had been seen.
PRIOR = 8


class Counts:
    """hits of tries, by rank and bin."""

    def __init__(self, *shape: int):
        self.tries, self.hits = np.zeros(shape), np.zeros(shape)

    def add(self, place: tuple[int, ...], hit: bool) -> None:
        self.tries[place] += 1
        self.hits[place] += hit

    def shares(self, prior: np.ndarray | float) -> list:
        """Hits over tries, each bin drawn towards its prior by PRIOR tries more."""
        return np.round((self.hits + PRIOR * np.asarray(prior)) / (self.tries + PRIOR), 4).tolist()


@torch.inference_mode()
def fit_chances(target: LanguageModel, draft: LanguageModel, rows: Sequence[Row]) -> AcceptanceTable:
    """Count on these rows' answers: greedy and, with shared noise, at each of TEMPERATURES.

    Look-ups greedy in the rows that the target wrote so, and at the other temperatures in those that it did not.
    """
    drawn = {temperature: Counts(RANKS, len(EDGES)) for temperature in (0.0, *TEMPERATURES)}
    copied, by_rank = {temperature: Counts(len(KINDS), LONGEST_MATCH, PLACES) for temperature in drawn}, Counts(RANKS)
    for number, row in enumerate(rows):
        places = row.places.tolist()
        logits = [answer_logits(model, row) for model in (target, draft)]
        own = {temperature: [] for temperature in drawn}
        for part in (slice(start, start + AT_ONCE) for start in range(0, len(places), AT_ONCE)):
            for temperature, counts in drawn.items():
                sides, ranks = [side[part] for side in logits], None if temperature else by_rank
                sampling = Sampling(temperature=temperature, seed=number)
                own[temperature] += count_draws(counts, sides, places[part], sampling, draft.known, ranks)
        for temperature, counts in copied.items():
            if row.greedy == (temperature == 0):
                count_copies(counts, row.ids.tolist(), dict(zip(places, own[temperature], strict=True)))
        if number % 20 == 19:
            print(f"{number + 1} of {len(rows)} rows", file=sys.stderr, flush=True)
    prior = np.array([np.array(MIDDLES) * factor for factor in (1.0, 0.8, 0.8, 0.8)])
    best = drawn[0.0].tries[0]
    return AcceptanceTable(
        drafted=[counts.shares(prior) for counts in drawn.values()],
        copied=[counts.shares(0.3) for counts in copied.values()],
        by_rank=by_rank.shares(0.1),
        sureness=np.round(best / best.sum(), 4).tolist(),
    )


def count_draws(
    counts: Counts, logits: list, places: list[int], sampling: Sampling, known: Tensor | None, by_rank: Counts | None
) -> list[int]:
    """Count which of the draft's best tokens the target's own is, at each place; known: the draft's ids.

    Returns the target's own tokens.
    """
    p, q = (tempered(side, sampling.temperature) for side in logits)
    own = scores(p, places, sampling).argmax(-1).tolist()
    best = scores(q, places, sampling, known=known).topk(RANKS).indices
    for token, tokens, q_row in zip(own, ids_of(best, known), q.gather(-1, best).tolist(), strict=True):
        for rank in range(RANKS):
            counts.add((rank, int(np.searchsorted(EDGES, min(1.0, q_row[rank])))), tokens[rank] == token)
            if by_rank:
                by_rank.add((rank,), tokens[rank] == token)
    return own


def count_copies(counts: Counts, ids: list[int], own: Mapping[int, int]) -> None:
    """How far what followed the same tokens earlier is what the target writes; own: its token at each of its places."""
    for place, match in zip(own, matches(ids, own, LONGEST_MATCH), strict=True):
        if not match:
            continue
        for ahead in range(min(PLACES, place - match.place)):
            if place + ahead not in own:
                break
            token = ids[match.place + ahead]
            counts.add((match.kind, match.length - 1, ahead), token == own[place + ahead])
            # What the target writes later is known after the text as it goes on, and after no other.
            if token != ids[place + ahead]:
                break
