"""The interface that every model gives to the decoding methods, and the bookkeeping of its slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


class LanguageModel(Protocol):
    """A causal language model with a cache of slots, one slot a token.

    A slot's parent is the slot of the token before it; a token attends to the tokens of its path. Decoding methods
    never touch a cache tensor. Without `supports_tree` only chains can be forwarded: each token's parent is the slot
    before it. joinable: whether a forward can take borrowed cores midway (see `team`). known: the ids of the last
    logits' columns, int64 [columns]: the head's, ascending, then what a draft that copies adds; None where a column's
    number is its id, as for every target.
    """

    label: str
    precision: str
    device: str
    context_limit: int
    vocab_size: int
    known: Tensor | None
    supports_tree: bool
    joinable: bool

    @property
    def length(self) -> int:
        """How many slots are in use."""
        ...

    def skip(self, ids: Sequence[int]) -> int:
        """Before a text of these tokens is read: how many of the first ones need no forward. They count as read."""
        ...

    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        """One pass over n tokens, which take the next n slots.

        parents: for each token the slot of its parent, -1 for none; slots of this call count too.
        None means a chain that continues from the last slot. rows: which of the n tokens' logits
        are wanted, None for all. Returns float [rows, vocab_size]. Raises ContextFull.
        """
        ...

    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        """Keep one path of the tree: `slots`, each the parent of the next, and the ancestors of the first.

        below: slots of the tree under the path's last one that are kept too, parents first; they take the slots
        after the path, in this order.
        """
        ...

    def crop(self, length: int) -> None:
        """Forget all slots from `length` on."""
        ...


class ContextFull(ValueError):
    """The tokens do not fit in the model's context."""


class Slots:
    """Each slot's parent and depth, for a model that meets `LanguageModel`.

    chain: the slots before it continue each other from the start of the text; a tree is only beyond it.
    """

    def __init__(self, *, context_limit: int, capacity: int):
        """context_limit: no token may be deeper; capacity: how many slots there can be."""
        self.context_limit, self.capacity = context_limit, capacity
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.chain = 0

    @property
    def length(self) -> int:
        return len(self.parents)

    @property
    def is_chain(self) -> bool:
        """Whether all slots continue each other."""
        return self.chain == self.length

    def add(self, count: int, parents: Sequence[int] | None) -> None:
        """Enter `count` new slots, parents as in `LanguageModel.forward`; changes nothing if they do not fit.

        Raises ContextFull, and ValueError for a parent that is no earlier slot.
        """
        start = self.length
        if parents is None:
            parents, depth = range(start - 1, start - 1 + count), self.depths[-1] + 1 if start else 0
            depths: Sequence[int] = range(depth, depth + count)
        else:
            depths = self.depths_under(parents)
        if start + count > self.capacity or max(depths, default=0) >= self.context_limit:
            raise ContextFull(f"the text is longer than the model's context of {self.context_limit} tokens")
        self.enter(parents, depths)

    def depths_under(self, parents: Sequence[int]) -> list[int]:
        """The depths of new slots; raises ValueError for a parent that is no earlier slot."""
        start, depths = self.length, list[int]()
        for slot, parent in enumerate(parents, start):
            if not -1 <= parent < slot:
                raise ValueError(f"the parent of slot {slot} must be an earlier slot, not {parent}")
            depths.append(0 if parent < 0 else 1 + (depths[parent - start] if parent >= start else self.depths[parent]))
        return depths

    def enter(self, parents: Sequence[int], depths: Sequence[int]) -> None:
        self.parents += parents
        self.depths += depths
        while self.chain < len(self.parents) and self.parents[self.chain] == self.chain - 1:
            self.chain += 1

    def mask(self, start: int) -> np.ndarray:
        """Which slots the tokens from `start` on attend to, ancestors and themselves: bool [length - start, length].

        The chain part is filled by ranges, only the tree beyond it is walked.
        """
        mask = np.zeros((self.length - start, self.length), np.bool_)
        for row, slot in enumerate(range(start, self.length)):
            while slot >= self.chain:
                mask[row, slot] = True
                slot = self.parents[slot]
            mask[row, : slot + 1] = True
        return mask

    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> int:
        """See `LanguageModel`; returns the slot that `slots[0]` becomes."""
        first = self.depths[slots[0]]
        chain = first + len(slots)
        place = {slot: number for number, slot in enumerate([slots[-1], *below], chain - 1)}
        parents = [place[self.parents[slot]] for slot in below]
        depths = [self.depths[slot] for slot in below]
        self.parents[first:], self.depths[first:] = range(first - 1, chain - 1), range(first, chain)
        self.chain = chain
        self.enter(parents, depths)
        return first

    def crop(self, length: int) -> None:
        """Forget all slots from `length` on."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot crop {self.length} slots to {length}")
        del self.parents[length:], self.depths[length:]
        self.chain = min(self.chain, length)


def as_array(logits: Tensor) -> np.ndarray:
    """Logits of any precision and device, for numpy, which is much faster than torch with one row."""
    logits = logits.cpu()
    return (logits.float() if logits.element_size() == 2 else logits).numpy()


def leading(logits: np.ndarray, count: int, temperature: float = 1.0) -> tuple[np.ndarray, float]:
    """The columns of the largest of logits [columns], the largest first, and the log of Σ exp((logit − largest) /
    temperature); see `vectors.leaders`."""
    from duoviz.models.vectors import leaders

    # One kind of array, which is compiled once.
    return leaders(np.ascontiguousarray(logits), count, logits.dtype.type(1 / temperature))


def compile_leading() -> None:
    """Compile what `leading` calls, so that no run's first token waits for it."""
    for kind in (np.float32, np.float64):
        leading(np.zeros(1, kind), 1)


def ids_of(columns: Tensor | np.ndarray, known: Tensor | None) -> list:
    """The ids of columns, int64 of any shape, as lists of that shape; known: see `LanguageModel`."""
    return (columns if known is None else known.numpy()[columns]).tolist()


def over_vocabulary(row: Tensor, known: Tensor | None) -> Tensor:
    """A distribution over columns, float [columns], as one over ids, [ids]: 0 for what is no column."""
    if known is None:
        return row
    return row.new_zeros(int(known.max()) + 1).index_copy(0, known, row)
