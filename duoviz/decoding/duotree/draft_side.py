"""DuoTree's draft side: the tree, the draft's cache that follows it, and the steps that grow it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import cast

from duoviz.decoding.choosing import read, step
from duoviz.decoding.duotree.policy import steady_width
from duoviz.decoding.duotree.tree import Expansion, Tree, TreeConfig, TreeNode
from duoviz.decoding.worker.protocol import DraftState
from duoviz.models.language_model import LanguageModel


class DraftSide:
    """A draft model whose cache holds the text and the tree's forwarded nodes; without trees it grows a chain."""

    def __init__(self, model: LanguageModel, config: TreeConfig):
        self.config = replace(config, trees=config.trees and model.supports_tree)
        self.model, self.tree = model, Tree(self.config)
        model.crop(0)

    def move(self, tokens: Sequence[int]) -> list[TreeNode]:
        """See `Tree.move`; the cache follows."""
        before = len(self.tree.text)
        path = self.tree.move(tokens)
        self.roll_back(before, [node.slot for node in path])
        return path

    def roll_back(self, before: int, slots: list[int | None]) -> None:
        """Rollback: the cache keeps the text and the nodes under the new root.

        before: length of the text up to the old root; slots: of the nodes from there to the new one.
        """
        held = [slot for slot in takewhile(lambda slot: slot is not None, slots) if slot is not None]
        below = [node for node in self.tree.nodes if node.slot is not None]
        old = [node.slot for node in below if node.slot is not None]
        if not held:
            self.model.crop(min(before, self.model.length))
        elif self.config.trees:
            self.model.keep(held, old)
        else:
            self.model.keep([*held, *old])
        for slot, node in enumerate(below, before + len(held)):
            node.slot = slot

    def grow(self, width: int, *, number: int = 0, stopped: Callable[[], bool] = bool) -> Expansion:
        """Forward the `width` nodes of greatest value, or the text up to the root, and add their best next tokens.

        number: of the step in its iteration. Raises Stopped.
        """
        tree, position, sampling = self.tree, len(self.tree.text), self.config.sampling
        count = self.config.children if self.config.trees else 1
        expanded = tree.waiting()[:width]
        if not tree.expanded:
            chosen, span = read(self.model, tree.text[self.model.length :], sampling, count, stopped=stopped)
        else:
            nodes = [tree.nodes[index] for index in expanded]
            tokens, positions = [node.token for node in nodes], [position + node.depth for node in nodes]
            slots = [tree.nodes[node.parent].slot if node.parent >= 0 else position - 1 for node in nodes]
            for slot, node in enumerate(nodes, self.model.length):
                node.slot = slot
            chosen, span = step(self.model, tokens, cast("list[int]", slots), positions, sampling, count)
        children = []
        for index, choice in zip(expanded, chosen, strict=True):
            tree.expand(index, choice.tokens, choice.q, step=number)
            children.append((tree.tokens_to(index), choice.tokens, choice.q))
        return Expansion(position, span, children)


@dataclass(frozen=True)
class ExpandRequest:
    """The text goes on with these tokens: grow its tree until another request comes.

    Each step's `Expansion` is an answer, and None the last. draft_seconds: T_draft(1), T_draft(2), …, which decide how
    wide the steps are. config: given where a run begins, with its prompt as the tokens.
    """

    tokens: tuple[int, ...]
    draft_seconds: tuple[float, ...]
    config: TreeConfig | None = None

    def answers(
        self, draft: DraftState, *, waits: Callable[[], bool], stopped: Callable[[], bool]
    ) -> Iterator[Expansion | None]:
        if self.config:
            draft.kept = DraftSide(draft.model, self.config)
        draft.kept.move(self.tokens)
        return self.steps(draft.kept, waits)

    def steps(self, side: DraftSide, waits: Callable[[], bool]) -> Iterator[Expansion | None]:
        """The tree's steps, as long as one is worth it and no other request waits."""
        while not waits() and (width := steady_width(side.tree, self.draft_seconds)):
            yield side.grow(width)
        yield None
