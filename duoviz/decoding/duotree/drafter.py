"""DuoTree, our own method: one tree, drafted and verified as far as costs and chances say it pays."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.budget import ROUNDS
from duoviz.decoding.costs import OVERHEAD, step_times
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.duotree.policy import MOST_VERIFIED, decide
from duoviz.decoding.duotree.schedule import Beside, InTurn
from duoviz.decoding.duotree.tree import Tree, TreeConfig, TreeNode
from duoviz.decoding.iteration import Candidate, Node, Start
from duoviz.decoding.method import DRAFT, PROMPT, VERIFYING, Method
from duoviz.decoding.settings import MAX_SEQUENCES

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan
    from duoviz.decoding.worker.process import ProcessDraft
    from duoviz.decoding.worker.protocol import InlineDraft

# How many of the tree's unverified nodes are recorded, those of greatest value.
RECORDED = 24


class DuoTree(Drafter):
    """Grow a tree while another draft step raises the expected tokens per second; verify the nodes that are worth it.

    A parallel draft goes on growing the tree meanwhile. The committed tokens lead to the tree's next root, whose
    subtree is kept. The classical rule does not apply: the tree's tokens are chosen, not drawn. Trees as in SpecInfer
    (arXiv 2305.09781) and EAGLE-2 (arXiv 2406.16858).
    """

    def __init__(self, plan: RunPlan):
        assert plan.draft
        self.plan, self.number = plan, 0
        config = TreeConfig(
            table=plan.table or plain(),
            sampling=plan.settings.sampling,
            children=plan.settings.tree_children,
            trees=plan.target.supports_tree,
            limit=plan.length_limit.limit,
            ends=plan.pair.eos,
        )
        self.side = (
            Beside(cast("ProcessDraft", plan.draft), config, plan.costs, plan.stopped)
            if plan.placement.beside
            else InTurn(cast("InlineDraft", plan.draft).model, config, plan.stopped)
        )
        # chosen: indices in the tree of the nodes to verify; reason: why the target begins.
        self.chosen: list[int] = []
        self.reason: Start | None = None
        self.target_seconds: list[float]
        self.draft_seconds: list[float]
        self.overhead: float

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        self.chosen, self.reason = self.grow()
        place = {index: number for number, index in enumerate(self.chosen)}
        return [as_node(self.side.tree, index, place) for index in self.chosen]

    def grow(self) -> tuple[list[int], Start]:
        """Grow the tree while it pays; the indices of the nodes to verify, and why the target begins now."""
        tree, begin = self.side.tree, time.perf_counter()
        if self.number % ROUNDS == 0:
            self.target_seconds, self.draft_seconds, self.overhead = self.seconds(len(tree.text))
        self.number += 1
        target_seconds, draft_seconds = self.target_seconds, self.draft_seconds
        by_rank = tree.config.table.by_rank[: tree.config.children if tree.config.trees else 1]
        while True:
            spent, widths = self.overhead + time.perf_counter() - begin, self.side.widths(draft_seconds)
            decision = decide(tree, spent, target_seconds, draft_seconds, widths=widths, by_rank=by_rank)
            if not decision.width or not self.side.step(decision.width):
                reason = Start(decision.expected, decision.rate, decision.gain, decision.seconds)
                return tree.chosen(decision.rows), reason
            if self.side.steps[-1].tokens > MAX_SEQUENCES:
                # Reading the prompt is no drafting.
                begin = time.perf_counter()

    def seconds(self, context: int) -> tuple[list[float], list[float], float]:
        """T_target(1), T_target(2), …; T_draft(1), T_draft(2), …; and the overhead."""
        costs, settings = self.plan.costs.model, self.plan.settings
        most = MOST_VERIFIED if settings.tree_budget == "auto" else settings.tree_budget
        # Time spent waiting for a parallel draft is in what a decision counts as spent.
        overhead = OVERHEAD if self.plan.placement.beside else costs.overhead
        return costs.target_time(np.arange(1, most + 2), context).tolist(), step_times(costs, context), overhead

    def start(self, text: Sequence[int], tree: Sequence[Node]) -> None:
        if not self.side.tree.text:
            self.side.move(text)

    def join(self) -> list[Node]:
        self.side.catch_up()
        return []

    def observe(self, text, iteration, target_tokens) -> None:
        tree = self.side.tree
        if self.reason is None:
            self.move(text)
            return
        iteration.start, iteration.candidates = self.reason, first_tokens(tree)
        iteration.draft, self.side.steps = self.side.steps, []
        iteration.unverified, nodes = record_unverified(tree, self.chosen, len(iteration.checked))
        mark_survivors([*self.move(text), *tree.nodes], nodes, iteration.unverified)

    def move(self, text: Sequence[int]) -> list[TreeNode]:
        """The tree's root follows the text; the nodes on the way."""
        return self.side.move(text[len(self.side.tree.text) :])

    def close(self) -> None:
        self.side.close()


def as_node(tree: Tree, index: int, place: Mapping[int, int]) -> Node:
    """place: the parents' indices in the record."""
    node = tree.nodes[index]
    parent = place.get(node.parent, -1)
    return Node(node.token, parent, node.source, q=node.q, chance=node.chance, step=node.step, was=node.place)


def first_tokens(tree: Tree) -> list[Candidate]:
    """The draft's first tokens, the most probable first."""
    firsts = [Candidate(node.token, node.q, False) for node in tree.nodes if node.parent < 0 and node.q is not None]
    return sorted(firsts, key=lambda candidate: -candidate.p)


def record_unverified(tree: Tree, chosen: Sequence[int], start: int) -> tuple[list[Node], list[TreeNode]]:
    """Unverified nodes, for the record and in the tree; sets every node's `place` in the record.

    start: how many nodes the record has before these.
    """
    place = {index: number for number, index in enumerate(chosen)}
    unverified = [index for index in tree.chosen(len(chosen) + RECORDED) if index not in place]
    place |= {index: number for number, index in enumerate(unverified, start)}
    nodes = [as_node(tree, index, place) for index in unverified]
    for index, node in enumerate(tree.nodes):
        node.place = place.get(index)
    return nodes, [tree.nodes[index] for index in unverified]


def mark_survivors(alive: Sequence[TreeNode], nodes: Sequence[TreeNode], unverified: Sequence[Node]) -> None:
    """Nodes that led to the new root or are under it stay pending; others are discarded."""
    alive_ids = set(map(id, alive))
    for node, recorded in zip(nodes, unverified, strict=True):
        recorded.status = "pending" if id(node) in alive_ids else "discarded"


DUOTREE = Method(
    id="duotree",
    title="DuoTree",
    name="DuoTree",
    about="Ours, not the paper's: one tree of guesses, grown and checked only while that is worth it.",
    drafter=DuoTree,
    draft=True,
    proposers=(DRAFT, PROMPT),
    settings=("overlap", "tree_children", "tree_budget", "cores"),
    statuses=("pending", *VERIFYING),
    numbers=("acceptance",),
    caption="the tree's likeliest tokens, checked",
    verified="The tree had {tokens:# token|# tokens} worth checking, in {branches:# branch|# branches}",
    nothing="No guess was worth checking",
)
