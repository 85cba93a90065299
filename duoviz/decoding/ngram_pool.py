"""Lookahead's pool of n-grams: what has followed a token in the text and in the window."""

from collections.abc import Iterable, Sequence


class NgramPool:
    """N-grams by their first token, at most `guesses` of each; the one last seen longest ago makes room."""

    def __init__(self, *, size: int, guesses: int):
        """size: N, the tokens of an n-gram, its first one included; guesses: G."""
        self.size, self.guesses = size, guesses
        # A dictionary's order is that of insertion: here, of when each was last seen.
        self.following: dict[int, dict[tuple[int, ...], None]] = {}

    def add(self, ngrams: Iterable[Sequence[int]]) -> None:
        """Put in n-grams of `size` tokens each; those already there are now the last seen."""
        for first, *rest in ngrams:
            known = self.following.setdefault(first, {})
            known.pop(tuple(rest), None)
            known[tuple(rest)] = None
            if len(known) > self.guesses:
                del known[next(iter(known))]

    def read(self, text: Sequence[int], start: int) -> None:
        """Put in the text's n-grams that end with a token from index `start` on."""
        ends = range(max(start + 1, self.size), len(text) + 1)
        self.add(text[end - self.size : end] for end in ends)

    def after(self, token: int) -> list[tuple[int, ...]]:
        """What has followed `token`, size − 1 tokens each, the last seen last."""
        return list(self.following.get(token, ()))
