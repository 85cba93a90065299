"""Lookahead's window: the tokens that the target guesses ahead of the text, as columns and levels."""

from collections.abc import Sequence
from random import Random

from duoviz.decoding.iteration import Node
from duoviz.decoding.settings import Settings


class Window:
    """The lookahead branch: W columns of tokens, N−1 levels deep, each level one Jacobi iteration newer.

    Let t be the place of the text's last token. Level j, column i stands at place t + i + j. Level 0,
    column 0 is that last token itself; the rest of level 0 is a chain after it; the parent of
    level j, column i is level j−1, column i. So a token attends to the text, to level 0 up to its own
    column, and to its own column down to itself.

    A forward writes one token a column, after the newest level. With it each column of a full window
    is an n-gram. Then level 0 is dropped, the other levels move up by one, and what was written
    becomes the newest level. If the text grew by one token, every token keeps its place. If it grew by
    more, the window is shifted by one all the same: it moves along with the end of the text, and each
    of its tokens then stands further on than where it was written. The authors' code does the same by
    default; the alternative drops the columns that the text has passed and fills up with drawn tokens.

    At first there is level 0 only, W + N − 3 tokens drawn from the prompt behind the last one. Until
    the window is full, what was written is added as a level, none is dropped, and column 0 is dropped
    instead: the text has reached it. After N − 2 forwards that leaves W columns.
    """

    def __init__(self, prompt_ids: Sequence[int], settings: Settings, eos: frozenset[int]):
        """The tokens are drawn with the settings' seed; the text does not depend on them."""
        self.eos, self.random = eos, Random(settings.seed)
        self.fillers = [token for token in prompt_ids if token not in eos] or list(prompt_ids)
        self.depth = settings.lookahead_ngram - 1
        width = settings.lookahead_window + self.depth - 1
        self.levels = [self.random.choices(self.fillers, k=width)]

    def begin(self, last: int, *, deepest: int) -> None:
        """The text now ends with the token `last`; the columns that reach beyond `deepest` places after it go."""
        base, *newer = self.levels
        width = max(0, deepest - len(newer) + 1)
        self.levels = [level[:width] for level in ([last, *base[1:]], *newer)]

    def nodes(self, start: int) -> tuple[list[Node], list[int]]:
        """The window as nodes whose first has the index `start`, and the indices of its newest level.

        The end of the text, level 0, column 0, is no node: its index is -1.
        """
        base, *newer = self.levels
        places = [-1, *range(start, start + len(base) - 1)][: len(base)]
        nodes = [window_node(token, parent) for token, parent in zip(base[1:], places, strict=False)]
        for level in newer:
            nodes += [window_node(token, parent) for token, parent in zip(level, places, strict=True)]
            end = start + len(nodes)
            places = list(range(end - len(level), end))
        return nodes, places

    def advance(self, written: list[int]) -> list[tuple[int, ...]]:
        """Take in what the target wrote after the newest level, a token a column; returns the n-grams found."""
        # Whatever is written after an end is of no use to the columns that would read it.
        newest = [self.random.choice(self.fillers) if token in self.eos else token for token in written]
        if len(self.levels) < self.depth:
            self.levels = [level[1:] for level in (*self.levels, newest)]
            return []
        ngrams = list(zip(*self.levels, written, strict=True))
        self.levels = [*self.levels[1:], newest]
        return ngrams


def window_node(token: int, parent: int) -> Node:
    return Node(token, parent, "lookahead", status="window")
