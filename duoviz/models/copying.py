"""A draft that also copies: what followed the same few tokens earlier in the text becomes more likely."""

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor

from duoviz.models.columns import column_of
from duoviz.models.language_model import LanguageModel


class NGrams:
    """Where in a chain of tokens each n-gram was followed by another token."""

    def __init__(self, longest: int):
        self.longest = longest
        self.tokens: list[int] = []
        self.places: dict[tuple[int, ...], list[int]] = {}

    def grams_before(self, place: int) -> list[tuple[int, ...]]:
        """The n-grams that end right before a place, n = 1, 2, …"""
        return [tuple(self.tokens[place - n : place]) for n in range(1, min(self.longest, place) + 1)]

    def append(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            place = len(self.tokens)
            self.tokens.append(token)
            for gram in self.grams_before(place):
                self.places.setdefault(gram, []).append(place)

    def crop(self, length: int) -> None:
        for place in range(len(self.tokens) - 1, length - 1, -1):
            for gram in self.grams_before(place):
                self.places[gram].pop()
        del self.tokens[length:]

    def look_up(self, suffix: Sequence[int], *, end: int) -> tuple[int, int] | None:
        """(n, token): the token that followed the longest known end of `suffix` the last time; None without any.

        Places from `end` on do not count.
        """
        for n in range(min(self.longest, len(suffix)), 0, -1):
            places = self.places.get(tuple(suffix[-n:]), [])
            place = next((place for place in reversed(places) if place < end), None)
            if place is not None:
                return n, self.tokens[place]
        return None


class Copying:
    """A model mixed with a look-up in its own context; meets `LanguageModel`.

    Where the longest end of the text (up to n tokens) stood earlier, followed by a token c, the
    distribution becomes (1 − w_n) · q + w_n · [c]. Only drafts are mixed so: a draft's distribution
    may be anything, the text stays the target's.
    """

    def __init__(self, model: LanguageModel, weights: Sequence[float]):
        """weights: w_1, w_2, …, each at least 0 and below 1."""
        self.model, self.weights = model, list(weights)
        self.label, self.precision, self.device = model.label, model.precision, model.device
        self.context_limit, self.vocab_size, self.supports_tree = (
            model.context_limit,
            model.vocab_size,
            model.supports_tree,
        )
        self.known, self.columns = model.known, column_of(model.known)
        self.chain = NGrams(len(self.weights))
        # What grows after the chain: slot by slot, each with its parent's slot.
        self.grown: list[tuple[int, int]] = []

    @property
    def length(self) -> int:
        return len(self.chain.tokens) + len(self.grown)

    def tune(self) -> None:
        self.model.tune()

    @torch.inference_mode()
    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        start = self.length
        logits = self.model.forward(ids, parents=parents, rows=rows)
        if parents is None and not self.grown:
            self.chain.append(ids)
        else:
            after = range(start - 1, start - 1 + len(ids)) if parents is None else parents
            self.grown += zip(ids, after, strict=True)
        wanted = range(len(ids)) if rows is None else rows
        self.mix(logits, [self.chain.look_up(self.suffix(start + row), end=start + row + 1) for row in wanted])
        return logits

    def suffix(self, slot: int) -> list[int]:
        """The last tokens of the path that ends at a slot."""
        path: list[int] = []
        chain = self.chain.tokens
        while slot >= len(chain) and len(path) < len(self.weights):
            token, slot = self.grown[slot - len(chain)]
            path.append(token)
        return chain[max(0, slot + 1 - len(self.weights)) : slot + 1] + path[::-1]

    def mix(self, logits: Tensor, found: Sequence[tuple[int, int] | None]) -> None:
        """Change logits [rows, vocab] in place so that their softmax is the mixture."""
        usable = [
            (row, column, log(self.weights[n - 1] / (1 - self.weights[n - 1])))
            for row, (n, token) in ((row, match) for row, match in enumerate(found) if match)
            if self.weights[n - 1] > 0 and (column := self.column(token)) is not None
        ]
        if not usable:
            return
        rows, columns, odds = (list(each) for each in zip(*usable, strict=True))
        exact = torch.float64 if logits.dtype == torch.float64 else torch.float32
        total = logits[rows].to(exact).logsumexp(dim=-1)
        copied = total + torch.tensor(odds, dtype=exact, device=logits.device)
        logits[rows, columns] = torch.logaddexp(logits[rows, columns].to(exact), copied).to(logits.dtype)

    def column(self, token: int) -> int | None:
        """Where the logits have a token; None where they have none of it."""
        if self.columns is not None:
            return self.columns.get(token)
        return token if token < self.vocab_size else None

    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        self.model.keep(slots, below)
        known, path, slot = len(self.chain.tokens), [], slots[-1]
        while slot >= known:
            token, slot = self.grown[slot - known]
            path.append(token)
        chain = slot + 1 + len(path)
        place = {slot: number for number, slot in enumerate([slots[-1], *below], chain - 1)}
        trees = [self.grown[each - known] for each in below]
        self.grown = [(token, place[parent]) for token, parent in trees]
        self.chain.crop(slot + 1)
        self.chain.append(path[::-1])

    def crop(self, length: int) -> None:
        self.model.crop(length)
        del self.grown[max(0, length - len(self.chain.tokens)) :]
        self.chain.crop(length)
