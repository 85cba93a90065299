"""Lookahead decoding: the target guesses n-grams by Jacobi iterations and verifies them in the same forwards."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from duoviz.decoding.in_turn import forward_tree, judge, keep_accepted, read_prompt
from duoviz.decoding.iteration import Iteration, Node, room_for
from duoviz.decoding.method import VERIFYING, Method, Proposer
from duoviz.decoding.ngram_pool import NgramPool
from duoviz.decoding.sampling import Choices, scores
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.pair import Pair


def lookahead(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Decode with n-grams that the target found itself: verify some and look for more in one forward, commit.

    Fu et al. 2024, "Break the Sequential Dependency of LLM Inference Using Lookahead Decoding"
    (arXiv 2402.02057), sections 3.1 to 3.3. Each target forward reads the last token of the text, the
    pool's n-grams that begin with it (the verification branch, at most G(N−1) tokens: what n-grams
    begin with alike is read once) and the window (the lookahead branch, (N−1)W tokens, that last
    token among them; see `Window`). The pool holds the n-grams of the window, of the prompt and of
    the text written so far. Verification begins with the second forward, for the first reads the prompt;
    the authors' code waits until the window is full.

    `Iteration.checked` is the guesses, the window, and last the target's own token. Raises
    SettingsError for a target that cannot read a tree of tokens.
    """
    if not pair.target.supports_tree:
        raise SettingsError(
            f"Lookahead needs a target that reads several continuations at once, and {pair.target.label} "
            "reads one only: choose another method or another target."
        )
    # No distribution proposed the tokens, so the classical rule has no q to divide by.
    return iterations(pair, prompt_ids, replace(settings, acceptance="coupled"))


def iterations(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """The run itself; see `lookahead`."""
    target = pair.target
    room = room_for(len(prompt_ids), settings.max_new_tokens, target.context_limit)
    first = read_prompt(pair, prompt_ids, settings, room)
    yield first
    if first.stop:
        return
    text = [*prompt_ids, first.committed[0].token]
    pool = NgramPool(size=settings.lookahead_ngram, guesses=settings.lookahead_guesses)
    pool.read(text, 0)
    window = Window(prompt_ids, settings, pair.eos)
    while True:
        # The target adds a token of its own, so one fewer than fits is guessed.
        longest = room.limit - len(text) - 1
        guesses = guess_tree(pool.after(text[-1]), longest)
        # Where this forward's own token is the last one, nothing that it finds would be used.
        window.begin(text[-1], deepest=target.context_limit - len(text) if longest else 0)
        nodes, newest = window.nodes(len(guesses))
        tree = [*guesses, *nodes]
        own, span = forward_tree(pair, text, tree, settings)
        iteration = judge(guesses, own, settings)
        # Before the target's own token, so that an index in `checked` stays the index in the forward.
        iteration.checked[-1:-1] = nodes
        iteration.target, iteration.sync = span, time.perf_counter()
        keep_accepted(pair, text, tree)
        pool.add(window.advance(continuations(own, newest)))
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        pool.read(text, len(text) - len(iteration.committed))
        yield iteration
        if iteration.stop:
            return


def guess_tree(ngrams: Iterable[Sequence[int]], longest: int) -> list[Node]:
    """The first `longest` tokens of each n-gram as a tree, parents before children."""
    tree: list[Node] = []
    places: dict[tuple[int, int], int] = {}
    for ngram in ngrams:
        parent = -1
        for token in ngram[:longest]:
            if (parent, token) not in places:
                places[parent, token] = len(tree)
                tree.append(Node(token, parent, "lookahead"))
            parent = places[parent, token]
    return tree


def continuations(own: Choices, newest: Sequence[int]) -> list[int]:
    """One Jacobi iteration: the target's token after each of these nodes, -1 for the end of the text.

    The authors take the argmax in sampled runs too. Here the noise of the token's place decides, as
    it will when the text gets there: only then is the run's own text where the iterations come to
    rest, and on the tests' small models more is accepted at temperatures near 1.
    """
    if not newest:
        return []
    rows = [index + 1 for index in newest]
    logits, sampling = own.logits[rows], own.sampling
    if sampling.temperature == 0:
        return logits.argmax(dim=-1).tolist()
    # A guess need not be exact: the filters and the draw's float64 would cost more than they bring.
    p = (logits.cpu() / sampling.temperature).softmax(dim=-1)
    return scores(p, [own.positions[row] for row in rows], sampling).argmax(dim=-1).tolist()


class Window:
    """The lookahead branch: W columns of tokens, N−1 levels deep, each level one Jacobi iteration newer.

    Let t be the place of the text's last token. Level j, column i stands at place t + i + j. Level 0,
    column 0 is that last token itself; the rest of level 0 is a chain that hangs on it; the parent of
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


GUESSES = Proposer(id="lookahead", token="token guessed by Lookahead", origin="guessed by Lookahead")

LOOKAHEAD = Method(
    id="lookahead",
    title="Lookahead",
    name="Lookahead decoding",
    about="The target guesses n-grams beside its own work, and verifies those that fit later; no draft model.",
    decode=lookahead,
    proposers=(GUESSES,),
    settings=("lookahead_window", "lookahead_ngram", "lookahead_guesses", "cores"),
    statuses=(*VERIFYING, "window"),
    numbers=("acceptance",),
    caption="guesses kept from before, checked",
    verified="{branches:# guess kept from before was|# guesses kept from before were} checked; {target:it|one}",
    nothing="No guess kept from before begins with the last token",
    colour="#a04a9c",
    shape="-",
    mark="x",
)
