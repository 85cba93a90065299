"""The chance table, fitted on held-out self-chat: how often the target writes what the draft proposes."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from duoviz.decoding.chances import EDGES, FILE, LONGEST_MATCH, MIDDLES, PLACES, RANKS, TEMPERATURES, Chances
from duoviz.decoding.prompt_lookup import find
from duoviz.decoding.sampling import Sampling, scores, tempered
from duoviz.models.columns import named
from duoviz.models.copying import NGrams
from duoviz.models.language_model import LanguageModel
from duoviz.training.corpus import Corpus

# So many of the held-out rows are counted.
ROWS = 200
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
        return np.round((self.hits + PRIOR * np.asarray(prior)) / (self.tries + PRIOR), 4).tolist()


@torch.inference_mode()
def fit_chances(
    target: LanguageModel,
    draft: LanguageModel,
    corpus: Corpus,
    rows: Iterable[int],
    report: Callable[[str], None] = print,
) -> Chances:
    """Count on these rows' answers: greedy, with shared noise at each of TEMPERATURES, and what look-ups found."""
    greedy, sampled = Counts(RANKS, len(EDGES)), [Counts(RANKS, len(EDGES)) for _ in TEMPERATURES]
    copied, by_rank = Counts(LONGEST_MATCH, PLACES), Counts(RANKS)
    rows = list(rows)
    for number, row in enumerate(rows):
        ids, places = corpus.row(row).tolist(), corpus.answered(row).tolist()
        wanted = [place - 1 for place in places]
        logits = []
        for model in (target, draft):
            model.crop(0)
            logits.append(model.forward(ids, rows=wanted).float())
        count_draws(greedy, logits, places, Sampling(), draft.known, by_rank)
        for counts, temperature in zip(sampled, TEMPERATURES, strict=True):
            count_draws(counts, logits, places, Sampling(temperature=temperature, seed=row), draft.known)
        if corpus.greedy[row]:
            count_copies(copied, ids, places)
        if number % 20 == 19:
            report(f"{number + 1} of {len(rows)} rows")
    prior = np.array([np.array(MIDDLES) * share for share in (1.0, 0.8, 0.8, 0.8)])
    sureness = np.round(greedy.tries[0] / greedy.tries[0].sum(), 4).tolist()
    drawn = [counts.shares(prior) for counts in sampled]
    return Chances(greedy.shares(prior), drawn, copied.shares(0.3), by_rank.shares(0.1), sureness)


def count_draws(
    counts: Counts,
    logits: list,
    places: list[int],
    sampling: Sampling,
    known: Tensor | None,
    by_rank: Counts | None = None,
) -> None:
    """Which of the draft's best tokens the target's own is, at each place; known: the draft's ids."""
    p, q = (tempered(each, sampling.temperature) for each in logits)
    own = scores(p, places, sampling).argmax(-1).tolist()
    best = scores(q, places, sampling, known=known).topk(RANKS).indices
    for token, tokens, each in zip(own, named(best, known), q.gather(-1, best).tolist(), strict=True):
        for rank in range(RANKS):
            counts.add((rank, int(np.searchsorted(EDGES, min(1.0, each[rank])))), tokens[rank] == token)
            if by_rank:
                by_rank.add((rank,), tokens[rank] == token)


def count_copies(counts: Counts, ids: list[int], places: list[int]) -> None:
    """How far what followed the same tokens earlier is what the target wrote."""
    known = NGrams(LONGEST_MATCH)
    for place in places:
        known.append(ids[len(known.tokens) : place])
        matched, start = find(known, "latest")
        if not matched:
            continue
        for ahead in range(min(PLACES, len(ids) - place, place - start)):
            hit = ids[start + ahead] == ids[place + ahead]
            counts.add((matched - 1, ahead), hit)
            if not hit:
                break


def save_chances(chances: Chances, folder: Path) -> None:
    (folder / FILE).write_text(json.dumps(vars(chances)) + "\n")
