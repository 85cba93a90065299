"""The target's draw: temperature, top-k, top-p, and the seeded noise that decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import exp, isfinite, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from duoviz.errors import UserError
from duoviz.models.language_model import as_array, leading

if TYPE_CHECKING:
    from torch import Tensor

# Streams of noise. The target's draw and a coupled draft share one; the classical rule has one to accept, one to draw
# from the residual, and one for each drafting round, so that a token that was dropped untested is independent of its
# successor.
SHARED, ACCEPTING, PICKING, FIRST_FRESH = range(4)
# Noise is made for a multiple of so many ids: a target and a draft that lacks its last ids share it.
NOISE_AT_ONCE = 1024


class NotFinite(UserError):
    """A model's logits are infinite or NaN."""


class DraftNotFinite(NotFinite):
    """The draft's are: the target goes on alone."""


class Sampling(NamedTuple):
    """What a draw depends on besides the logits; temperature 0 is greedy. See `settings.Settings`."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class Drawn(NamedTuple):
    """A token of the target's; margin: how many logits the next best lacked, None where there was no other."""

    token: int
    margin: float | None


def tempered(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature), [..., vocab]; at temperature 0 softmax(logits).

    float64 for a draw, so that only the logits' own rounding counts; greedy float32 (or float64 as the logits).
    """
    if temperature > 0:
        return (logits.double() / temperature).softmax(dim=-1)
    return (logits if logits.element_size() == 8 else logits.float()).softmax(dim=-1)


def filtered(probabilities: Tensor, *, top_k: int, top_p: float) -> Tensor:
    """The distribution after top-k, then top-p, [rows, vocab]; tokens as probable as the last one kept are kept too."""
    if 0 < top_k < probabilities.shape[-1]:
        probabilities = cut_below(probabilities, probabilities.topk(top_k, dim=-1).values[:, -1:])
    if top_p < 1:
        probabilities = cut_below(probabilities, nucleus_floor(probabilities, top_p))
    return probabilities


def cut_below(probabilities: Tensor, floor: Tensor) -> Tensor:
    """Without tokens less probable than `floor` [rows, 1], renormalised."""
    kept = probabilities.where(probabilities >= floor, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def nucleus_floor(probabilities: Tensor, top_p: float) -> Tensor:
    """The smallest probability in the smallest set of tokens that together reach `top_p`, [rows, 1]."""
    vocabulary = probabilities.shape[-1]
    # A sort of the whole vocabulary is slow, and the most probable few tokens are nearly always enough.
    for count in (256, 4096, vocabulary):
        values = probabilities.topk(min(count, vocabulary), dim=-1).values
        mass = values.cumsum(dim=-1)
        if count >= vocabulary or bool((mass[:, -1] >= top_p).all()):
            break
    last = (mass < top_p).sum(dim=-1, keepdim=True).clamp(max=values.shape[-1] - 1)
    return values.gather(-1, last)


def noise(seed: int, position: int, size: int, *, stream: int = SHARED) -> Tensor:
    """Exponential noise for the token at `position` of the text, float64 [size].

    A function of seed, position and stream alone (a counter-based generator). A smaller size is the beginning of a
    larger one, so a draft with a smaller vocabulary meets the target's noise.
    """
    return made_noise(seed, position, -(-size // NOISE_AT_ONCE) * NOISE_AT_ONCE, stream)[:size]


@lru_cache(maxsize=32)
def made_noise(seed: int, position: int, size: int, stream: int) -> Tensor:
    """See `noise`; kept, for the target meets what its draft met."""
    generator = np.random.Generator(np.random.Philox(key=[seed, position], counter=[0, 0, 0, stream]))
    # Settings are read where nothing is computed, and torch takes long to import.
    from torch import from_numpy

    return from_numpy(generator.standard_exponential(size))


def scores(
    probabilities: Tensor,
    positions: Sequence[int],
    sampling: Sampling,
    *,
    stream: int = SHARED,
    known: Tensor | None = None,
) -> Tensor:
    """Scores [rows, vocab] whose largest is a draw from p, and whose k largest are k draws without replacement.

    p / e with exponential noise e orders tokens as log p + g with Gumbel noise g = −log e does. Greedy: the
    probabilities themselves. known: the columns' ids (see `LanguageModel`), which meet the target's noise.
    """
    if sampling.temperature == 0:
        return probabilities
    from torch import stack

    size = probabilities.shape[-1] if known is None else int(known.max()) + 1
    rows = [noise(sampling.seed, position, size, stream=stream) for position in positions]
    return probabilities / stack(rows if known is None else [row[known] for row in rows])


class TargetRow:
    """The target's logits after one row of a forward, and what follows from them when it is asked for."""

    def __init__(self, logits: np.ndarray, position: int, sampling: Sampling):
        """logits [vocab]; position: in the text, of the token after the row. Raises NotFinite."""
        self.values, self.position, self.sampling = logits, position, sampling
        self.temperature = sampling.temperature or 1.0
        leaders, self.total = leading(logits, 2, self.temperature)
        if not isfinite(self.total):
            raise NotFinite(
                "The target's logits are infinite or NaN: its weights are damaged, or its precision is too low."
            )
        self.best, self.second = leaders.tolist()

    @property
    def filters(self) -> bool:
        """Whether top-k or top-p leaves tokens out."""
        return self.sampling.top_k > 0 or self.sampling.top_p < 1

    @cached_property
    def drawn(self) -> Drawn:
        """The target's token, a function of logits, seed and position; greedy the lowest id on exact ties."""
        if self.sampling.temperature == 0:
            return Drawn(self.best, float(self.values[self.best]) - float(self.values[self.second]))
        if not self.filters:
            return self.drawn_from_all()
        score = scores(self.distribution[None], [self.position], self.sampling)[0]
        (best, second), (token, _) = (pair.tolist() for pair in score.topk(2))
        return Drawn(token, self.temperature * log(best / second) if second > 0 else None)

    def drawn_from_all(self) -> Drawn:
        """`drawn` without top-k and top-p; weighs only tokens that could be among the best two with the least noise."""
        e = noise(self.sampling.seed, self.position, len(self.values)).numpy()
        likely = [self.best, self.second]
        certain = self.values[likely] / self.temperature - np.log(e[likely])
        could = self.values >= float(self.temperature * (certain.min() + np.log(e.min())))
        # Despite rounding.
        could[likely] = True
        tokens = np.flatnonzero(could)
        weights = self.values[tokens].astype(np.float64) / self.temperature - np.log(e[tokens])
        (best, second), _ = leading(weights, 2)
        return Drawn(int(tokens[best]), self.temperature * float(weights[best] - weights[second]))

    @property
    def margin(self) -> float | None:
        """How many logits the next best token lacked; None where there was no other."""
        margin = self.drawn.margin
        return margin if margin is not None and isfinite(margin) else None

    @cached_property
    def distribution(self) -> Tensor:
        """What the token is drawn from, [vocab]; greedy, softmax(logits)."""
        from torch import from_numpy

        p = tempered(from_numpy(self.values[None]), self.sampling.temperature)
        return filtered(p, top_k=self.sampling.top_k, top_p=self.sampling.top_p)[0]

    def probability(self, token: int) -> float:
        if self.filters:
            return float(self.distribution[token])
        return exp((float(self.values[token]) - float(self.values[self.best])) / self.temperature - self.total)


class TargetDraws:
    """The target's own token after each row of a forward, drawn when it is asked for. Raises NotFinite."""

    def __init__(self, logits: Tensor, positions: Sequence[int], sampling: Sampling):
        """logits [rows, vocab]; positions: for each row, the position in the text of the token after it."""
        self.logits, self.positions, self.sampling = logits, positions, sampling
        # Of a GPU's rows each is fetched when it is asked for.
        self.at_hand = as_array(logits) if logits.is_cpu else None
        self.rows: dict[int, TargetRow] = {}

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, row: int) -> int:
        """The target's token after a row."""
        return self.row(row).drawn.token

    def row(self, row: int) -> TargetRow:
        if row not in self.rows:
            logits = as_array(self.logits[row]) if self.at_hand is None else self.at_hand[row]
            self.rows[row] = TargetRow(logits, self.positions[row], self.sampling)
        return self.rows[row]


class RejectionNoise:
    """The classical rule's random choices: seeded, and independent of the noise that drafted the tokens."""

    def __init__(self, seed: int):
        self.seed = seed

    def accepts(self, probability: float, position: int, trial: int) -> bool:
        """True with this probability; `trial` counts the tokens tested at the position."""
        return float(noise(self.seed, position, trial + 1, stream=ACCEPTING)[trial].neg().exp()) < probability

    def picks(self, probabilities: Tensor, position: int) -> int:
        """A token from the distribution [vocab]."""
        return int((probabilities / noise(self.seed, position, len(probabilities), stream=PICKING)).argmax())
