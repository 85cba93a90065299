"""Where the n-grams of a text stood before, and what followed them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# How an n-gram was continued before: seen once; the last two times alike; the last two times differently.
KINDS = ONCE, ALIKE, DIFFER = range(3)


class Match(NamedTuple):
    """The n of the n-gram found, the token that followed it last, where that stood, and one of KINDS."""

    length: int
    token: int
    place: int
    kind: int


class NGrams:
    """Where in a chain of tokens each n-gram, of up to `longest` tokens, was followed by another token.

    array: the tokens, int64, and room for more.
    """

    def __init__(self, longest: int):
        self.longest = longest
        self.tokens: list[int] = []
        self.array = np.empty(0, np.int64)

    def append(self, tokens: Sequence[int]) -> None:
        start = len(self.tokens)
        self.tokens += tokens
        if len(self.tokens) > len(self.array):
            self.array = np.resize(self.array, 2 * len(self.tokens))
        self.array[start : len(self.tokens)] = tokens

    def crop(self, length: int) -> None:
        del self.tokens[length:]

    def earlier(self, suffix: Sequence[int], *, end: int) -> tuple[int, int, int, int]:
        """See `vectors.earlier`, of the longest end of `suffix`; places from `end` on do not count."""
        from duoviz.models.vectors import earlier

        return earlier(self.array[: min(end, len(self.tokens))], np.array(suffix[-self.longest :], np.int64))

    def look_up(self, suffix: Sequence[int], *, end: int) -> Match | None:
        """What followed the longest known end of `suffix` the last time; None where nothing is known."""
        length, _, last, before = self.earlier(suffix, end=end)
        if not length:
            return None
        token = self.tokens[last]
        kind = ONCE if before < 0 else ALIKE if self.tokens[before] == token else DIFFER
        return Match(length, token, last, kind)
