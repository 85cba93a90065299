"""Lookahead decoding: the target guesses n-grams by Jacobi iterations and verifies them in the same forwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import VERIFYING, Method, Proposer
from duoviz.decoding.prompt_lookup import up_to_end
from duoviz.decoding.sampling import TargetDraws, scores
from duoviz.decoding.settings import Settings

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan


class Lookahead(Drafter):
    """Propose n-grams that the target has guessed itself, and let it guess more in the same forward.

    Fu et al. 2024 (arXiv 2402.02057), §3.1 to 3.3. Each target forward reads the text's last token, the pool's n-grams
    that begin with it (the verification branch, at most G(N−1) tokens; common beginnings once) and the window (the
    lookahead branch, (N−1)W tokens with that last one; see `Window`). The pool holds the n-grams of the window and of
    the text. Verification begins with the second forward; the authors' code waits until the window is full.
    """

    def __init__(self, plan: RunPlan):
        settings = plan.settings
        self.context_limit, self.ends = plan.target.context_limit, plan.pair.eos
        self.pool = NgramPool(size=settings.lookahead_ngram, guesses=settings.lookahead_guesses)
        self.window = Window(plan.prompt_ids, settings, plan.pair.eos)
        # The indices of the window's newest level among the nodes that the target reads.
        self.newest: list[int] = []
        self.read = 0

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        guesses = guess_tree(self.pool.after(text[-1]), longest, self.ends)
        # The last forward of a text needs no window.
        self.window.begin(text[-1], deepest=self.context_limit - len(text) if longest else 0)
        nodes, self.newest = self.window.nodes(len(guesses))
        return [*guesses, *nodes]

    def observe(self, text, iteration, target_tokens) -> None:
        if self.read:
            self.pool.add(self.window.advance(continuations(target_tokens, self.newest)))
        self.pool.read(text, self.read)
        self.read = len(text)


class Window:
    """The lookahead branch: W columns of tokens, N−1 levels deep, each level one Jacobi iteration newer.

    With the text's last token at position t, level j, column i is at position t + i + j. Level 0, column 0 is that last
    token; the rest of level 0 is a chain after it; the parent of level j, column i is level j−1, column i. So a token
    attends to the text, to level 0 up to its column, and to its column.

    A forward writes one token per column after the newest level, which makes each column of a full window an n-gram.
    Then level 0 is dropped and the new tokens become the newest level. The window moves on by one position even if the
    text grew by more, as in the authors' code by default.

    At first there is level 0 only: W + N − 3 tokens drawn from the prompt after the last one. Until the window is full,
    the new tokens are added as a level, and column 0 is dropped instead of a level. After N − 2 forwards that leaves W
    columns.
    """

    def __init__(self, prompt_ids: Sequence[int], settings: Settings, eos: frozenset[int]):
        """The tokens are drawn with the settings' seed; the text does not depend on them."""
        self.eos, self.random = eos, Random(settings.seed)
        self.fillers = [token for token in prompt_ids if token not in eos] or list(prompt_ids)
        self.depth = settings.lookahead_ngram - 1
        width = settings.lookahead_window + self.depth - 1
        self.levels = [self.random.choices(self.fillers, k=width)]

    def begin(self, last: int, *, deepest: int) -> None:
        """The text now ends with the token `last`; columns that reach beyond depth `deepest` are dropped."""
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
        """Add what the target wrote after the newest level, a token per column; returns the n-grams found."""
        # What follows an end of text is of no use.
        newest = [self.random.choice(self.fillers) if token in self.eos else token for token in written]
        if len(self.levels) < self.depth:
            self.levels = [level[1:] for level in (*self.levels, newest)]
            return []
        ngrams = list(zip(*self.levels, written, strict=True))
        self.levels = [*self.levels[1:], newest]
        return ngrams


def window_node(token: int, parent: int) -> Node:
    return Node(token, parent, "lookahead", status="window")


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


def guess_tree(ngrams: Iterable[Sequence[int]], longest: int, ends: frozenset[int] = frozenset()) -> list[Node]:
    """The first `longest` tokens of each n-gram, or up to one that ends a text, as a tree, parents before children."""
    tree: list[Node] = []
    places: dict[tuple[int, int], int] = {}
    for ngram in ngrams:
        parent = -1
        for token in up_to_end(ngram[:longest], ends):
            if (parent, token) not in places:
                places[parent, token] = len(tree)
                tree.append(Node(token, parent, "lookahead"))
            parent = places[parent, token]
    return tree


def continuations(target_tokens: TargetDraws, newest: Sequence[int]) -> list[int]:
    """One Jacobi iteration: the target's token after each of these nodes, -1 for the end of the text.

    The authors take the argmax in sampled runs too. Here the noise of the token's position decides, as it will when the
    text gets there, so that the iterations converge to the run's own text.
    """
    if not newest:
        return []
    rows = [index + 1 for index in newest]
    logits, sampling = target_tokens.logits[rows], target_tokens.sampling
    if sampling.temperature == 0:
        return logits.argmax(dim=-1).tolist()
    # A guess need not be exact: the filters and the draw's float64 would cost more than they bring.
    p = (logits.cpu() / sampling.temperature).softmax(dim=-1)
    return scores(p, [target_tokens.positions[row] for row in rows], sampling).argmax(dim=-1).tolist()


GUESSES = Proposer(id="lookahead", token="token guessed by Lookahead", origin="guessed by Lookahead")

LOOKAHEAD = Method(
    id="lookahead",
    title="Lookahead",
    name="Lookahead decoding",
    about="The target guesses n-grams on the side and verifies the fitting ones later; no draft model.",
    drafter=Lookahead,
    trees=True,
    proposers=(GUESSES,),
    settings=("lookahead_window", "lookahead_ngram", "lookahead_guesses", "cores"),
    statuses=(*VERIFYING, "window"),
    numbers=("acceptance",),
    caption="stored guesses, checked",
    verified="Lookahead checked {branches:# stored guess|# stored guesses}",
    nothing="No stored guess begins with the last token",
)
