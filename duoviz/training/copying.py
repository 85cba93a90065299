"""Fitting how much the draft trusts a look-up in its own context."""

import json
from pathlib import Path

import torch

from duoviz.models.columns import whole
from duoviz.models.copying import NGrams
from duoviz.models.language_model import LanguageModel
from duoviz.training.corpus import Corpus

LONGEST = 8
# Of expectation maximisation.
ROUNDS = 50
# What a draft assumes of the look-up while it is trained; they are fitted anew afterwards.
START_WEIGHTS = (0.05, 0.28, 0.49, 0.65, 0.66, 0.70, 0.73, 0.82)
# A look-up that was always right in the corpus may be wrong elsewhere.
LARGEST_WEIGHT = 0.95


def observations(draft: LanguageModel, corpus: Corpus, rows: list[int]) -> list[tuple[int, float, bool]]:
    """For each answer token that a look-up has a word for: n, q of the true token, whether the look-up is right.

    draft: without copying; q is its probability.
    """
    seen = []
    for row in rows:
        ids, answered = corpus.row(row).tolist(), corpus.answered(row).tolist()
        draft.crop(0)
        q = draft.forward(ids[:-1], rows=[place - 1 for place in answered]).float().softmax(dim=-1)
        q = torch.stack([whole(each, draft.known) for each in q])
        grams, row_of = NGrams(LONGEST), {place: index for index, place in enumerate(answered)}
        for place, token in enumerate(ids):
            match = grams.look_up(grams.tokens[-LONGEST:], end=len(grams.tokens)) if place in row_of else None
            if match is not None:
                known = float(q[row_of[place], token]) if token < q.shape[-1] else 0.0
                seen.append((match[0], known, match[1] == token))
            grams.append([token])
    return seen


def fit_weights(seen: list[tuple[int, float, bool]]) -> list[float]:
    """w_n for n = 1..LONGEST that make the true tokens most likely (expectation maximisation)."""
    weights = []
    for n in range(1, LONGEST + 1):
        mine = [(q, right) for length, q, right in seen if length == n]
        weight = 0.5 if mine else 0.0
        for _ in range(ROUNDS if mine else 0):
            shares = [weight / (weight + (1 - weight) * q) if right else 0.0 for q, right in mine]
            weight = min(LARGEST_WEIGHT, sum(shares) / len(shares))
        weights.append(round(weight, 3))
    return weights


@torch.inference_mode()
def fit_copying(draft: LanguageModel, corpus: Corpus, rows: list[int], folder: Path) -> list[float]:
    """Fit the weights on corpus rows that the draft was not trained on, and write them to the draft's config."""
    weights = fit_weights(observations(draft, corpus, rows))
    file = folder / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"copying": weights}, indent=2) + "\n")
    return weights
