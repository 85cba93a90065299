"""Fitting how much the draft trusts a look-up in its own context."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

from duoviz.models.language_model import LanguageModel, over_vocabulary
from duoviz.models.ngrams import KINDS, Match, NGrams
from duoviz.training.corpus import Corpus

LONGEST = 8
# Of expectation maximisation.
ROUNDS = 50
# What a draft assumes of the look-up while it is trained; they are fitted anew afterwards.
START_WEIGHTS = (
    (0.11, 0.35, 0.54, 0.62, 0.69, 0.69, 0.73, 0.88),
    (0.25, 0.64, 0.78, 0.82, 0.82, 0.86, 0.90, 0.95),
    (0.03, 0.12, 0.10, 0.25, 0.25, 0.25, 0.25, 0.25),
)
# A look-up that was always right in the corpus may be wrong elsewhere.
LARGEST_WEIGHT = 0.95


class Seen(NamedTuple):
    """An answer token that a look-up has a word for: what it found, q of the true token, and whether it is right."""

    match: Match
    q: float
    right: bool


def matches(ids: list[int], places: Iterable[int], longest: int) -> Iterator[Match | None]:
    """What a look-up of up to `longest` tokens finds for each of these places, ascending, in the text before it."""
    grams = NGrams(longest)
    for place in places:
        grams.append(ids[len(grams.tokens) : place])
        yield grams.look_up(grams.tokens, end=place)


def observations(draft: LanguageModel, corpus: Corpus, rows: list[int]) -> list[Seen]:
    """Each answer token that a look-up has a word for.

    draft: without copying; q is its probability.
    """
    seen = []
    for row in rows:
        ids, answered = corpus.row(row).tolist(), corpus.answered(row).tolist()
        draft.crop(0)
        q = draft.forward(ids[:-1], rows=[place - 1 for place in answered]).float().softmax(dim=-1)
        q = torch.stack([over_vocabulary(row, draft.known) for row in q])
        for place, match, known in zip(answered, matches(ids, answered, LONGEST), q, strict=True):
            if match is not None:
                token = ids[place]
                seen.append(Seen(match, float(known[token]) if token < len(known) else 0.0, match.token == token))
    return seen


def fit_weights(seen: list[Seen]) -> list[list[float]]:
    """For each of KINDS w_n, n = 1..LONGEST, that make the true tokens most likely (expectation maximisation)."""

    def weight_of(kind: int, n: int) -> float:
        mine = [answer for answer in seen if (answer.match.kind, answer.match.length) == (kind, n)]
        weight = 0.5 if mine else 0.0
        for _ in range(ROUNDS if mine else 0):
            shares = [weight / (weight + (1 - weight) * answer.q) if answer.right else 0.0 for answer in mine]
            weight = min(LARGEST_WEIGHT, sum(shares) / len(shares))
        return round(weight, 3)

    return [[weight_of(kind, n) for n in range(1, LONGEST + 1)] for kind in KINDS]


@torch.inference_mode()
def fit_copying(draft: LanguageModel, corpus: Corpus, rows: list[int], folder: Path) -> list[list[float]]:
    """Fit the weights on corpus rows that the draft was not trained on, and write them to the draft's config."""
    weights = fit_weights(observations(draft, corpus, rows))
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"copying": weights}, indent=2) + "\n")
    return weights
