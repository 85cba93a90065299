"""DuoTree's expected speed: its own policy, played on a virtual clock."""

from functools import lru_cache

import numpy as np

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.costs import CostModel, step_times
from duoviz.decoding.duotree.policy import MOST_VERIFIED, WIDTHS, decide, steady_width
from duoviz.decoding.duotree.tree import ROOT, Tree, TreeConfig
from duoviz.decoding.sampling import Sampling

# Iterations that are played, length of the text, and seconds of each iteration outside both models.
ITERATIONS, CONTEXT, OVERHEAD = 120, 256, 1e-3
BLOCK = 40
TOKENS = 100
# Difficulty classes of positions: each one's share, and the chances of the draft's tokens by rank.
Places = tuple[tuple[float, tuple[float, ...]], ...]


def exponential_tilt(places: Places, rate: float) -> Places:
    """The difficulty classes reweighted (exponential tilting) so that the draft's top-1 accuracy equals `rate`.

    Each class's share is multiplied by exp(t · the best token's chance), with the t that comes nearest to the rate. No
    other token's chance stays above the best one's.
    """
    shares, kinds = zip(*places, strict=True)
    kinds = [tuple(min(chance, chances[0]) for chance in chances) for chances in kinds]
    met, best = np.array(shares), np.array([chances[0] for chances in kinds])
    low, high = -100.0, 100.0
    for _ in range(50):
        t = (low + high) / 2
        weights = met * np.exp(t * (best - best.mean()))
        low, high = (t, high) if weights @ best < rate * weights.sum() else (low, t)
    return tuple(zip((weights / weights.sum()).tolist(), kinds, strict=True))


@lru_cache(maxsize=1024)
def forecast(
    costs: CostModel,
    places: Places,
    *,
    beside: bool,
    children: int,
    trees: bool = True,
    most: int = MOST_VERIFIED,
    iterations: int = ITERATIONS,
) -> float:
    """Expected tokens per second on a virtual clock, by iterations' expected tokens, which vary less than drawn ones.

    places: `AcceptanceTable.places`; each position's class is drawn at random, and the target's token from its chances.
    Nothing is looked up. beside: the draft works in parallel, else they take turns. children: of each node; trees: else
    one chain; most: tokens in one verification.
    """
    world = World(places, children if trees else 1, iterations, trees, most)
    tree, widths = world.tree, WIDTHS if trees else WIDTHS[:1]
    target_seconds = costs.target_time(np.arange(1, most + 2), CONTEXT).tolist()
    draft_seconds = step_times(costs, CONTEXT)
    clock = draft_clock = expected = 0.0
    for _ in range(iterations):
        begin = clock
        while True:
            possible = [steady_width(tree, draft_seconds)] if beside else widths
            spent = OVERHEAD + clock - begin
            decision = decide(tree, spent, target_seconds, draft_seconds, widths=possible, by_rank=world.by_rank)
            if not decision.width:
                break
            world.step(decision.width)
            # A step that the draft began while the target worked may not be finished yet.
            clock = draft_clock = (draft_clock if beside else clock) + draft_seconds[decision.width - 1]
        chosen = set(tree.chosen(decision.rows))
        expected += decision.expected
        clock += OVERHEAD + target_seconds[decision.rows]
        while beside and draft_clock < clock and (width := steady_width(tree, draft_seconds)):
            world.step(width)
            draft_clock += draft_seconds[width - 1]
        draft_clock = max(draft_clock, clock)
        tree.move(world.written(chosen))
    return float(expected / clock)


def drawn(rng: np.random.Generator, edges: np.ndarray, size: int) -> np.ndarray:
    """Classes of at least so many positions in random order; each BLOCK of them has the classes' shares.

    edges: the cumulated shares. So that a short text is no luckier than most.
    """
    blocks = [(np.arange(BLOCK) + rng.random()) / BLOCK for _ in range(-(-size // BLOCK))]
    kinds = [rng.permutation(np.searchsorted(edges, block)) for block in blocks]
    return np.minimum(np.concatenate(kinds), len(edges) - 1)


class World:
    """A synthetic text: position i uses ids i·TOKENS…; the draft's rank-r guess is the r-th of them."""

    def __init__(self, places: Places, children: int, iterations: int, trees: bool, most: int):
        self.rng = np.random.default_rng(0)
        shares, kinds = zip(*places, strict=True)
        self.kinds = np.array(kinds)[:, :children]
        self.by_rank = (np.array(shares) @ self.kinds).tolist()
        # Which kind each place is of; a text has at most as many tokens as are verified, and one an iteration.
        self.kind = drawn(self.rng, np.cumsum(shares), iterations * (most + 2) + 1)
        config = TreeConfig(table=plain(), sampling=Sampling(), children=children, trees=trees, limit=len(self.kind))
        self.tree = Tree(config)
        self.tree.move([0])

    def step(self, width: int) -> None:
        """The draft's step: the nodes of greatest value get their children."""
        for index in self.tree.waiting()[:width]:
            place = len(self.tree.text) + (self.tree.nodes[index].depth if index >= 0 else 0)
            for rank, chance in enumerate(self.kinds[self.kind[place]].tolist()):
                self.tree.add(TOKENS * place + rank, index, chance, "draft")
            self.tree.close(index)

    def written(self, chosen: set[int]) -> list[int]:
        """What the target writes: the verified tokens that it takes, and its own after them."""
        tokens: list[int] = []
        index = ROOT
        while True:
            place = len(self.tree.text) + len(tokens)
            edges = np.cumsum(self.kinds[self.kind[place]])
            tokens.append(TOKENS * place + int(np.searchsorted(edges, self.rng.random())))
            index = self.tree.places.get((index, tokens[-1]))
            if index not in chosen:
                return tokens
