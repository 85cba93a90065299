"""DuoTree, our own: one tree of tokens, grown and verified as far as measured costs and chances say that it pays."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np
from torch import Tensor

from duoviz.decoding.budget import LiveCosts
from duoviz.decoding.calibration import cost_model
from duoviz.decoding.chances import Chances, chances_of
from duoviz.decoding.drafting import ended_now, proposals
from duoviz.decoding.growing import Tree, as_nodes, best_tokens, best_width
from duoviz.decoding.in_turn import forward_tree, judge, keep_accepted
from duoviz.decoding.iteration import Candidate, Iteration, Node, Span, room_for, timed_forward, timed_prefill
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.prompt_lookup import PROMPT, find
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import MAX_SEQUENCES, Settings
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.copying import NGrams
from duoviz.models.language_model import LanguageModel
from duoviz.models.linear import ROW_COUNTS
from duoviz.models.pairs import Pair

# What is looked up in the text: the longest end, and how many of the tokens after it.
LONGEST_END, LONGEST_COPY = 4, 10
# Seconds of an iteration in which neither model works, before any was seen; and how fast the run is followed.
FIRST_OVERHEAD, WEIGHT = 1e-3, 0.1


class Grower:
    """The draft's side: its cache holds the text, and of the tree what it has forwarded."""

    def __init__(self, model: LanguageModel, chances: Chances, settings: Settings, *, trees: bool):
        """trees: whether both models know trees; else one chain is grown."""
        self.model, self.chances, self.settings, self.trees = model, chances, settings, trees
        self.children = settings.tree_children if trees else 1
        self.known = NGrams(LONGEST_END)
        self.steps: list[Span] = []
        self.root = 0
        model.crop(0)

    def begin(self, text: Sequence[int], deepest: int, pair: Pair) -> Tree:
        """A tree after the text: what a look-up finds, which costs no step, and the draft's best next tokens."""
        self.known.append(text[len(self.known.tokens) :])
        tree = Tree(self.chances, deepest, sampled=self.settings.temperature > 0)
        matched, start = find(self.known, "latest")
        if matched and self.trees:
            tree.add_chain(text[start : start + LONGEST_COPY], matched)
        new = text[self.model.length :]
        logits, span = timed_prefill(self.model, new, stopped=runtime(pair).stopped)
        self.root, self.steps = len(text) - 1, []
        self.add_children(tree, [-1], logits, [len(text)], span)
        return tree

    def step(self, tree: Tree, width: int) -> None:
        """Forward the nodes of greatest value, and hang their best next tokens on them."""
        wanted = tree.waiting()[:width]
        nodes = [tree.nodes[index] for index in wanted]
        parents = [tree.nodes[node.parent].slot if node.parent >= 0 else self.root for node in nodes]
        for slot, node in enumerate(nodes, self.model.length):
            node.slot = slot
        logits, span = timed_forward(self.model, [node.token for node in nodes], parents=parents)
        self.add_children(tree, wanted, logits, [self.root + 1 + node.depth for node in nodes], span)

    def add_children(
        self, tree: Tree, parents: Sequence[int], logits: Tensor, positions: Sequence[int], span: Span
    ) -> None:
        _, q, score = proposals(logits, positions, self.settings.sampling)
        for row, parent in enumerate(parents):
            tree.add_children(parent, *best_tokens(score[row], q[row], self.children))
        self.steps.append(ended_now(span))

    def roll_back(self, tree: Tree, accepted: Sequence[int]) -> None:
        """Rollback: of the tree, the draft's cache keeps the accepted nodes that it has forwarded."""
        slots = [tree.nodes[index].slot for index in accepted]
        slots = slots[: slots.index(None)] if None in slots else slots
        if slots:
            self.model.keep(slots)
        else:
            self.model.crop(self.root + 1)


def duotree(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Grow a tree until another draft step would bring less than the run's rate, verify what is worth it, commit.

    Draft and target take turns on the same cores. The classical rule does not apply: the tree's tokens are chosen,
    not drawn. In the published order of speculative decoding, also at the start: the target's first forward reads
    the prompt and the first tree.
    """
    settings = replace(settings, acceptance="coupled")
    draft, target = draft_in_turn(pair), pair.target
    costs = LiveCosts(cost_model(pair, draft, in_turn=True))
    trees = target.supports_tree and draft.loop.model.supports_tree
    grower = Grower(draft.loop.model, chances_of(pair.draft_folder), settings, trees=trees)
    room = room_for(len(prompt_ids), settings.max_new_tokens, target.context_limit)
    text, overhead = list(prompt_ids), FIRST_OVERHEAD
    target.crop(0)
    for number in count():
        begin, context = time.perf_counter(), len(text)
        # The target adds a token of its own, so one fewer than fits is proposed.
        tree = grower.begin(text, room.limit - context - 1, pair)
        chosen = grow(tree, grower, costs, settings, context=context, overhead=overhead)
        nodes = as_nodes(tree, chosen)
        own, span = forward_tree(pair, text, nodes, settings)
        iteration = judge(nodes, own, settings)
        iteration.target, iteration.sync, iteration.draft = span, time.perf_counter(), grower.steps
        iteration.factors, iteration.candidates = costs.factors, first_tokens(tree)
        costs.observe(span, grower.steps[1:], context)
        grower.roll_back(tree, accepted_nodes(nodes, chosen))
        keep_accepted(pair, text, nodes)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        if number:
            busy = sum(each.end - each.start for each in (span, *grower.steps))
            overhead += WEIGHT * (time.perf_counter() - begin - busy - overhead)
        yield iteration
        if iteration.stop:
            return


def grow(
    tree: Tree, grower: Grower, costs: LiveCosts, settings: Settings, *, context: int, overhead: float
) -> list[int]:
    """Grow the tree as long as it pays; the indices of the nodes to verify (see `growing.best_width`)."""
    most = ROW_COUNTS[-1] - 1 if settings.tree_budget == "auto" else settings.tree_budget
    target_seconds = costs.target_time(np.arange(1, most + 2), context)
    draft_seconds = [costs.draft_time(k, context) for k in range(1, MAX_SEQUENCES + 1)]
    # Reading the prompt is no drafting.
    spent = overhead + sum(each.end - each.start for each in grower.steps if each.tokens <= MAX_SEQUENCES)
    while True:
        width, rows = best_width(tree, spent, target_seconds, draft_seconds, trees=grower.trees)
        if not width:
            return tree.chosen(rows)
        grower.step(tree, width)
        spent += grower.steps[-1].end - grower.steps[-1].start


def first_tokens(tree: Tree) -> list[Candidate]:
    """The draft's first tokens, the most probable first."""
    found = [Candidate(node.token, node.q, False) for node in tree.nodes if node.parent < 0 and node.q is not None]
    return sorted(found, key=lambda each: -each.p)


def accepted_nodes(nodes: Sequence[Node], chosen: Sequence[int]) -> list[int]:
    return [index for node, index in zip(nodes, chosen, strict=True) if node.status == "accepted"]


DUOTREE = Method(
    id="duotree",
    title="DuoTree",
    name="DuoTree",
    about="Ours, not the paper's: a tree of guesses, from the draft and the text, grown and checked as far as it pays.",
    decode=duotree,
    draft=True,
    proposers=(DRAFT, PROMPT),
    settings=("tree_children", "tree_budget", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="the likeliest of the tree, now checked",
    verified="The tree had {tokens:# token|# tokens} worth checking, in {branches:# branch|# branches}; {target}",
    nothing="Nothing was worth checking",
    colour="#d6447e",
    shape="|",
    mark="hexagon",
)
