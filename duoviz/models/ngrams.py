"""Where the n-grams of a text stood before, and what followed them."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

# How an n-gram was continued before: seen once; the last two times alike; the last two times differently.
KINDS = ONCE, ALIKE, DIFFER = range(3)


class Match(NamedTuple):
    """The n of the n-gram found, the token that followed it last, where that stood, and one of KINDS."""

    length: int
    token: int
    place: int
    kind: int


class NGrams:
    """Where in a chain of tokens each n-gram, of up to `longest` tokens, was followed by another token."""

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

    def earlier(self, suffix: Sequence[int], *, end: int) -> tuple[int, list[int]]:
        """The length of the longest end of `suffix` that was followed by a token, 0 without any, and the places of
        those tokens, ascending. Places from `end` on do not count.
        """
        for n in range(min(self.longest, len(suffix)), 0, -1):
            places = self.places.get(tuple(suffix[-n:]))
            if places and places[0] < end:
                return n, places[: bisect_left(places, end)]
        return 0, []

    def look_up(self, suffix: Sequence[int], *, end: int) -> Match | None:
        """What followed the longest known end of `suffix` the last time; None where nothing is known."""
        n, places = self.earlier(suffix, end=end)
        if not n:
            return None
        token, *before = (self.tokens[place] for place in places[:-3:-1])
        kind = ONCE if not before else ALIKE if before == [token] else DIFFER
        return Match(n, token, places[-1], kind)
