"""What is fitted on held-out rows: how much the draft trusts a look-up, and the table of how often it is right."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from duoviz.command_line import tell
from duoviz.decoding.acceptance_table import (
    EDGES,
    FILE,
    LONGEST_MATCH,
    MIDDLES,
    PLACES,
    RANKS,
    TEMPERATURES,
    AcceptanceTable,
)  # fmt: skip
from duoviz.decoding.sampling import Sampling, scores, tempered
from duoviz.errors import check_write
from duoviz.models.language_model import LanguageModel, ids_of
from duoviz.models.load import load_pair
from duoviz.models.ngrams import KINDS, Match, NGrams
from duoviz.training.corpus import Row, load_corpus

LONGEST = 8
# Of expectation maximisation.
ROUNDS = 50
# A look-up that was always right in the corpus may be wrong elsewhere.
LARGEST_WEIGHT = 0.95
# A bin with few tokens leans towards its q, as if so many had been seen.
PRIOR = 8


def matches(ids: list[int], places: Iterable[int], longest: int) -> Iterator[Match | None]:
    """What a look-up of up to `longest` tokens finds for each of these places, ascending, in the text before it."""
    grams = NGrams(longest)
    for place in places:
        grams.append(ids[len(grams.tokens) : place])
        yield grams.look_up(grams.tokens, end=place)


@torch.inference_mode()
def answer_logits(model: LanguageModel, row: Row) -> Tensor:
    """A model's logits of a row's answer tokens, float [tokens, columns]; its `known` names the columns."""
    model.crop(0)
    return model.forward(row.ids.tolist(), rows=(row.places - 1).tolist()).float().cpu()


def fit_copying(draft: LanguageModel, rows: Sequence[Row]) -> list[list[float]]:
    """For each of KINDS w_n, n = 1..LONGEST, that make the rows' tokens most likely (expectation maximisation).

    draft: without copying.
    """
    seen = [[list[tuple[float, bool]]() for _ in range(LONGEST)] for _ in KINDS]
    columns = {id: column for column, id in enumerate(ids_of(torch.arange(draft.vocab_size), draft.known))}
    for row in rows:
        ids, q = row.ids.tolist(), answer_logits(draft, row).softmax(-1)
        for place, match, chances in zip(row.places, matches(ids, row.places, LONGEST), q, strict=True):
            if match is not None:
                column = columns.get(token := ids[place])
                answer = 0.0 if column is None else float(chances[column]), match.token == token
                seen[match.kind][match.length - 1].append(answer)
    return [[fit_weight(answers) for answers in kind] for kind in seen]


def fit_weight(answers: Sequence[tuple[float, bool]]) -> float:
    """The weight of a look-up; answers: q of each true token, and whether it is what was looked up."""
    weight = 0.5 if answers else 0.0
    for _ in range(ROUNDS if answers else 0):
        shares = [weight / (weight + (1 - weight) * q) if right else 0.0 for q, right in answers]
        weight = min(LARGEST_WEIGHT, sum(shares) / len(shares))
    return round(weight, 3)


def agreement(target: LanguageModel, draft: LanguageModel, rows: Sequence[Row]) -> dict[str, float]:
    """How often the draft's best token is the target's, and Σ min(p, q), which the classical rule accepts."""
    same, overlap = [], []
    for row in rows:
        theirs, ours = answer_logits(target, row), answer_logits(draft, row)
        known = torch.arange(ours.shape[1]) if draft.known is None else draft.known
        same.append(known[ours.argmax(-1)] == theirs.argmax(-1))
        overlap.append(torch.minimum(theirs.softmax(-1)[:, known], ours.softmax(-1)).sum(-1))
    figures = {"top1": same, "classical at temperature 1": overlap}
    return {name: round(float(torch.cat(parts).float().mean()), 4) for name, parts in figures.items()}


def write_chances(options: argparse.Namespace) -> None:
    """Count on held-out rows how often a draft is right."""
    corpus = load_corpus(options.corpus)
    with check_write(options.out):
        options.out.mkdir(parents=True, exist_ok=True)
    pair = load_pair(f"embedded + {options.draft or 'embedded'}", tell)
    chances = fit_chances(pair.target, pair.draft.load(), [row for row in corpus if row.held_out])
    (options.out / FILE).write_text(json.dumps(vars(chances)) + "\n")


def fit_chances(target: LanguageModel, draft: LanguageModel, rows: Sequence[Row]) -> AcceptanceTable:
    """Count on these rows' answers: greedy and, with shared noise, at each of TEMPERATURES.

    Look-ups greedy in the rows that the target wrote so, and at the other temperatures in those that it did not.
    """
    temperatures = (0.0, *TEMPERATURES)
    # The last axis: how many were wrong and right.
    drawn = np.zeros((len(temperatures), RANKS, len(EDGES), 2))
    copied = np.zeros((len(temperatures), len(KINDS), LONGEST_MATCH, PLACES, 2))
    for number, row in enumerate(rows):
        logits = [answer_logits(model, row) for model in (target, draft)]
        for temperature, draws, copies in zip(temperatures, drawn, copied, strict=True):
            sampling = Sampling(temperature=temperature, seed=number)
            own = count_draws(draws, logits, row.places.tolist(), sampling, draft.known)
            if row.greedy == (temperature == 0):
                count_copies(copies, row.ids.tolist(), dict(zip(row.places.tolist(), own, strict=True)))
        if number % 20 == 19:
            print(f"{number + 1} of {len(rows)} rows", file=sys.stderr, flush=True)
    best = drawn[0, 0].sum(-1)
    return AcceptanceTable(
        drafted=shares(drawn, np.outer((1.0, 0.8, 0.8, 0.8), MIDDLES)),
        copied=shares(copied, 0.3),
        by_rank=shares(drawn[0].sum(1), 0.1),
        sureness=np.round(best / best.sum(), 4).tolist(),
    )


def shares(counts: np.ndarray, prior: np.ndarray | float) -> list:
    """Of counts [..., 2] how many were right, each drawn towards its prior by PRIOR tries more."""
    return np.round((counts[..., 1] + PRIOR * np.asarray(prior)) / (counts.sum(-1) + PRIOR), 4).tolist()


def count_draws(
    counts: np.ndarray, logits: Sequence[Tensor], places: list[int], sampling: Sampling, known: Tensor | None
) -> list[int]:
    """Count by rank and bin, [RANKS, bins, 2], which of the draft's best tokens the target's own is, at each place.

    logits: the target's and the draft's; known: the draft's ids. Returns the target's own tokens.
    """
    p, q = (tempered(side, sampling.temperature) for side in logits)
    own = scores(p, places, sampling).argmax(-1).tolist()
    best = scores(q, places, sampling, known=known).topk(RANKS).indices
    bins = np.searchsorted(EDGES, q.gather(-1, best).clamp(max=1.0).numpy())
    right = np.equal(ids_of(best, known), np.array(own)[:, None])
    np.add.at(counts, (np.arange(RANKS), bins, right.astype(int)), 1)
    return own


def count_copies(counts: np.ndarray, ids: list[int], own: Mapping[int, int]) -> None:
    """How far what followed the same tokens earlier is what the target writes, by kind, length and place in it.

    counts: [kinds, LONGEST_MATCH, PLACES, 2]; own: the target's token at each of its places.
    """
    for place, match in zip(own, matches(ids, own, LONGEST_MATCH), strict=True):
        if not match:
            continue
        for ahead in range(min(PLACES, place - match.place)):
            if place + ahead not in own:
                break
            token = ids[match.place + ahead]
            counts[match.kind, match.length - 1, ahead, int(token == own[place + ahead])] += 1
            # What the target writes later is known after the text as it goes on, and after no other.
            if token != ids[place + ahead]:
                break
