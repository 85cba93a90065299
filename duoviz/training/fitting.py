"""What is fitted on held-out self-chat: how much the draft trusts a look-up, and the table of how often it is right."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from duoviz.decoding.acceptance_table import EDGES, LONGEST_MATCH, MIDDLES, PLACES, RANKS, TEMPERATURES, AcceptanceTable
from duoviz.decoding.sampling import Sampling, scores, tempered
from duoviz.models.language_model import LanguageModel, ids_of, over_vocabulary
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
# So many places, since their noise is kept from one temperature to the next.
AT_ONCE = 16
# A bin with few tokens leans towards its q, as if so many had been seen.
PRIOR = 8


def matches(ids: list[int], places: Iterable[int], longest: int) -> Iterator[Match | None]:
    """What a look-up of up to `longest` tokens finds for each of these places, ascending, in the text before it."""
    grams = NGrams(longest)
    for place in places:
        grams.append(ids[len(grams.tokens) : place])
        yield grams.look_up(grams.tokens, end=place)


def assumed(rows: Sequence[Row], known: Tensor) -> tuple[Tensor, Tensor]:
    """What copying proposes for each answer token while the draft learns: its column in the head of the known ids,
    int64 [n], and its weight, float32 [n], 0 for none."""
    columns = {token: column for column, token in enumerate(known.tolist())}
    proposed = [
        (columns[match.token], START_WEIGHTS[match.kind][match.length - 1])
        if match and match.token in columns
        else (0, 0.0)
        for row in rows
        for match in matches(row.ids.tolist(), row.places.tolist(), LONGEST)
    ]
    column, weight = zip(*proposed, strict=True)
    return torch.tensor(column), torch.tensor(weight)


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
