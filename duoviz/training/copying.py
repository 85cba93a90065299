"""How much the draft trusts a look-up in its own context: assumed while it learns, fitted afterwards."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.language_model import LanguageModel, over_vocabulary
from duoviz.models.ngrams import KINDS, Match, NGrams
from duoviz.training.corpus import Row

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

# (kind, length) of a match: for each answer token with such a match q of the true token, and whether it is right.
Observed = dict[tuple[int, int], list[tuple[float, bool]]]


class Copied(NamedTuple):
    """What a look-up in the text proposes for each answer token: its column in the draft's logits, int64 [n], and
    weight float32 [n] (0 for none)."""

    column: Tensor
    weight: Tensor


def matches(ids: list[int], places: Iterable[int], longest: int) -> Iterator[Match | None]:
    """What a look-up of up to `longest` tokens finds for each of these places, ascending, in the text before it."""
    grams = NGrams(longest)
    for place in places:
        grams.append(ids[len(grams.tokens) : place])
        yield grams.look_up(grams.tokens, end=place)


def assumed(rows: Sequence[Row], columns: dict[int, int]) -> Copied:
    """What copying proposes while the draft learns; columns: of the ids that its head knows."""
    proposed = [
        (columns[match.token], START_WEIGHTS[match.kind][match.length - 1])
        if match and match.token in columns
        else (0, 0.0)
        for row in rows
        for match in matches(row.ids.tolist(), row.places.tolist(), LONGEST)
    ]
    return Copied(*map(torch.tensor, zip(*proposed, strict=True)))


def answer_logits(model: LanguageModel, row: Row) -> Tensor:
    """A model's logits of a row's answer tokens, float [tokens, columns]; its `known` names the columns."""
    model.crop(0)
    return model.forward(row.ids.tolist(), rows=(row.places - 1).tolist()).float().cpu()


def observe(draft: LanguageModel, rows: Sequence[Row]) -> Observed:
    """Every answer token that a look-up has a word for; draft: without copying."""
    seen: Observed = defaultdict(list)
    for row in rows:
        ids, places = row.ids.tolist(), row.places.tolist()
        q = [over_vocabulary(each, draft.known) for each in answer_logits(draft, row).softmax(dim=-1)]
        for place, match, chances in zip(places, matches(ids, places, LONGEST), q, strict=True):
            if match is not None:
                token = ids[place]
                chance = float(chances[token]) if token < len(chances) else 0.0
                seen[match.kind, match.length].append((chance, match.token == token))
    return seen


def fit_weights(seen: Observed) -> list[list[float]]:
    """For each of KINDS w_n, n = 1..LONGEST, that make the true tokens most likely (expectation maximisation)."""

    def weight_of(answers: list[tuple[float, bool]]) -> float:
        weight = 0.5 if answers else 0.0
        for _ in range(ROUNDS if answers else 0):
            shares = [weight / (weight + (1 - weight) * q) if right else 0.0 for q, right in answers]
            weight = min(LARGEST_WEIGHT, sum(shares) / len(shares))
        return round(weight, 3)

    return [[weight_of(seen.get((kind, n), [])) for n in range(1, LONGEST + 1)] for kind in KINDS]


@torch.inference_mode()
def fit_copying(draft: LanguageModel, rows: Sequence[Row], folder: Path) -> list[list[float]]:
    """Fit the weights on rows that the draft was not trained on, and write them to the draft's config."""
    weights = fit_weights(observe(draft, rows))
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"copying": weights}, indent=2) + "\n")
    return weights
