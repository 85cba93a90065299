"""DuoTree, our own: one tree that is drafted while it is verified, as far as measured costs and chances say it pays."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np

from duoviz.decoding.budget import LiveCosts, step_times
from duoviz.decoding.chances import chances_of
from duoviz.decoding.draft_requests import GrowRequest, PauseRequest
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.duodecoding import running_draft
from duoviz.decoding.forecast import OVERHEAD
from duoviz.decoding.grower import Grower
from duoviz.decoding.growing import WIDTHS, Grown, Growth, Tree, TreeNode, best_choice, steady_width
from duoviz.decoding.in_turn import forward_tree, judge, keep_accepted, read_prompt
from duoviz.decoding.iteration import Candidate, Iteration, Node, Span, Start, Stopped, room_for
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.overlap import costs_of, forecast_of, most_verified, works_beside
from duoviz.decoding.prompt_lookup import PROMPT
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import MAX_SEQUENCES, Settings
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.pair import Pair

# How fast the seconds of an iteration in which no model works follow the run.
WEIGHT = 0.1
# A text of more tokens than this is read by the draft while the target goes on alone.
LONG_READ = 8
# How long the end of a run waits for a draft to be still, in seconds.
PAUSE = 1.0
# Of the tree's tokens that were not verified, so many are recorded, those of greatest value.
RECORDED = 24


class InTurn:
    """The draft works when it is asked to, on the target's cores."""

    def __init__(self, pair: Pair, growth: Growth):
        self.grower = Grower(draft_in_turn(pair).loop.model, growth)
        self.stopped = runtime(pair).stopped
        self.steps: list[Span] = []

    @property
    def tree(self) -> Tree:
        return self.grower.tree

    def move(self, tokens: Sequence[int], draft_seconds: Sequence[float]) -> list[TreeNode]:
        """See `Tree.move`."""
        return self.grower.move(tokens)

    def widths(self, draft_seconds: Sequence[float]) -> Sequence[int]:
        """How many nodes the next step may forward."""
        return WIDTHS if self.tree.growth.trees else WIDTHS[:1]

    def step(self, width: int) -> bool:
        """One more step; whether there was one. Raises Stopped."""
        self.steps.append(self.grower.step(width, number=len(self.steps), stopped=self.stopped).span)
        return True

    def catch_up(self) -> None:
        """Take what the draft did meanwhile."""

    def close(self) -> None:
        pass


class Beside:
    """The draft works on its own cores without being asked; the tree here is what it has told so far."""

    def __init__(self, pair: Pair, growth: Growth):
        self.draft, self.tree, self.unread = running_draft(pair), Tree(growth), 0
        self.stopped = runtime(pair).stopped
        self.steps: list[Span] = []
        # What an earlier run's tree would still tell is none of this one's.
        self.draft.submit(PauseRequest())
        self.draft.result(stopped=self.stopped)

    def move(self, tokens: Sequence[int], draft_seconds: Sequence[float]) -> list[TreeNode]:
        """As `InTurn.move`; the draft goes on from there."""
        growth = None if self.tree.text else self.tree.growth
        self.unread = len(tokens) + (0 if growth or self.tree.expanded else self.unread)
        path = self.tree.move(tokens)
        self.draft.grow(GrowRequest(tuple(tokens), tuple(draft_seconds), self.tree.trust.copy(), growth))
        return path

    def widths(self, draft_seconds: Sequence[float]) -> Sequence[int]:
        """As `InTurn.widths`; none where the draft reads a long text first, or grows the tree no more."""
        if not self.tree.expanded and self.unread > LONG_READ:
            return ()
        width = steady_width(self.tree, draft_seconds)
        return (width,) if width else ()

    def step(self, width: int) -> bool:
        """Wait for the step under way; whether there was one. Raises DraftDied, Stopped."""
        grown = self.draft.grown(wait=True, stopped=self.stopped)
        if grown:
            self.take(grown)
        return grown is not None

    def take(self, grown: Grown) -> None:
        self.tree.take(grown, step=len(self.steps))
        self.steps.append(grown.span)

    def catch_up(self) -> None:
        while grown := self.draft.grown(wait=False):
            self.take(grown)

    def close(self) -> None:
        """No core computes for a run that has ended, but for a text that the draft is reading."""
        end = time.monotonic() + PAUSE
        with suppress(DraftDied, Stopped):
            self.draft.submit(PauseRequest())
            self.draft.result(stopped=lambda: time.monotonic() > end)


def duotree(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Grow a tree until another draft step would bring less than the run's rate, verify what is worth it, commit.

    Beside the target the draft goes on growing the tree meanwhile; in turn it waits. Where the target's tokens lead
    in the tree is its next root, with all that grows under it. The classical rule does not apply: the tree's tokens
    are chosen, not drawn. A target on the processor reads the prompt alone, so that nothing delays the first
    token. Raises DraftDied, Stopped.
    """
    settings = replace(settings, acceptance="coupled")
    beside, target = works_beside(pair, settings), pair.target
    room = room_for(len(prompt_ids), settings.max_new_tokens, target.context_limit)
    growth = Growth(
        chances=chances_of(pair.draft.folder),
        sampling=settings.sampling,
        children=settings.tree_children,
        trees=target.supports_tree,
        limit=room.limit,
    )
    costs = LiveCosts(costs_of(pair, settings, beside=beside))
    patience = forecast_of(pair, settings, beside=True).patience if beside else 1.0
    overhead = OVERHEAD
    with closing(Beside(pair, growth) if beside else InTurn(pair, growth)) as side:
        if target.device != "cpu":
            side.move(prompt_ids, step_times(costs, len(prompt_ids)))
        first = read_prompt(pair, prompt_ids, settings, room)
        yield first
        if first.stop:
            return
        text = [*prompt_ids, first.committed[0].token]
        side.move(text[len(side.tree.text) :], step_times(costs, len(text)))
        while True:
            chosen, start = grow(side, costs, settings, overhead, patience)
            begin, nodes = time.perf_counter(), as_nodes(side.tree, chosen)
            own, span = forward_tree(pair, text, nodes, settings)
            side.catch_up()
            iteration = judge(nodes, own, settings)
            iteration.target, iteration.sync, iteration.draft = span, time.perf_counter(), side.steps
            iteration.start, iteration.factors, iteration.candidates = start, costs.factors, first_tokens(side.tree)
            keep_accepted(pair, text, nodes)
            iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
            costs.observe(span, side.steps, len(text))
            observe_trust(side.tree, chosen, nodes)
            unverified = record(side.tree, chosen, nodes, iteration)
            text += [each.token for each in iteration.committed]
            side.steps = []
            path = side.move(text[len(side.tree.text) :], step_times(costs, len(text)))
            mark_survivors([*path, *side.tree.nodes], unverified, iteration.rest)
            idle = time.perf_counter() - begin - (span.end - span.start)
            overhead += WEIGHT * (idle - overhead)
            yield iteration
            if iteration.stop:
                return


def grow(
    side: InTurn | Beside, costs: LiveCosts, settings: Settings, overhead: float, patience: float
) -> tuple[list[int], Start]:
    """Let the tree grow as long as it pays; the indices of the nodes to verify, and why the target begins now.

    overhead: seconds of an iteration in which no model works.
    """
    tree, context = side.tree, len(side.tree.text)
    target_seconds = costs.target_time(np.arange(1, most_verified(settings) + 2), context)
    draft_seconds = step_times(costs, context)
    by_rank = tree.growth.chances.by_rank[: settings.tree_children if tree.growth.trees else 1]
    policy = {"by_rank": by_rank, "patience": patience}
    begin = time.perf_counter()
    while True:
        spent, widths = overhead + time.perf_counter() - begin, side.widths(draft_seconds)
        choice = best_choice(tree, spent, target_seconds, draft_seconds, widths=widths, **policy)
        if not choice.width or not side.step(choice.width):
            return tree.chosen(choice.rows), Start(choice.expected, choice.rate, choice.gain, choice.seconds)
        if side.steps[-1].tokens > MAX_SEQUENCES:
            # Reading the prompt is no drafting.
            begin = time.perf_counter()


def as_nodes(tree: Tree, chosen: Sequence[int]) -> list[Node]:
    """The chosen nodes as a tree of their own, for the target."""
    place = {index: number for number, index in enumerate(chosen)}
    return [as_node(tree, index, place) for index in chosen]


def as_node(tree: Tree, index: int, place: Mapping[int, int]) -> Node:
    """place: where its parent stands in the record."""
    node = tree.nodes[index]
    chance, parent = tree.chance_of(node), place.get(node.parent, -1)
    return Node(node.token, parent, node.source, q=node.q, chance=chance, step=node.step, was=node.place)


def first_tokens(tree: Tree) -> list[Candidate]:
    """The draft's first tokens, the most probable first."""
    found = [Candidate(node.token, node.q, False) for node in tree.nodes if node.parent < 0 and node.q is not None]
    return sorted(found, key=lambda each: -each.p)


def observe_trust(tree: Tree, chosen: Sequence[int], nodes: Sequence[Node]) -> None:
    """Follow how often what was verified after a verified token is what the target writes."""
    for index, node in zip(chosen, nodes, strict=True):
        if node.parent < 0 or nodes[node.parent].status == "accepted":
            tree.trust.observe(node.source, tree.nodes[index].chance, node.status == "accepted")


def record(tree: Tree, chosen: Sequence[int], nodes: Sequence[Node], iteration: Iteration) -> list[TreeNode]:
    """Enter the rest of the tree in the iteration; returns its nodes, which know their place in the record now.

    Steps that ended while the target worked have given nodes that `nodes` does not know.
    """
    place = {index: number for number, index in enumerate(chosen)}
    rest = [index for index in tree.chosen(len(chosen) + RECORDED) if index not in place]
    place |= {index: number for number, index in enumerate(rest, len(iteration.checked))}
    iteration.rest = [as_node(tree, index, place) for index in rest]
    for index, node in enumerate(tree.nodes):
        node.place = place.get(index)
    return [tree.nodes[index] for index in rest]


def mark_survivors(alive: Sequence[TreeNode], unverified: Sequence[TreeNode], rest: Sequence[Node]) -> None:
    """What led to the new root or is under it lives on, all else is gone."""
    known = set(map(id, alive))
    for node, each in zip(unverified, rest, strict=True):
        each.status = "pending" if id(node) in known else "discarded"


DUOTREE = Method(
    id="duotree",
    title="DuoTree",
    name="DuoTree",
    about="Ours, not the paper's: one tree of guesses, from the draft and the text, that grows and is checked "
    "as far as it pays.",
    decode=duotree,
    draft=True,
    proposers=(DRAFT, PROMPT),
    settings=("overlap", "tree_children", "tree_budget", "cores"),
    statuses=("pending", *VERIFYING),
    numbers=("acceptance",),
    caption="the tree, its likeliest tokens checked",
    verified="The tree had {tokens:# token|# tokens} worth checking, in {branches:# branch|# branches}; {target}",
    nothing="Nothing was worth checking",
    colour="#d6447e",
    shape="|",
    mark="hexagon",
)
