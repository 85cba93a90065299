"""The interface that every model gives to the decoding methods."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor


class LanguageModel(Protocol):
    """A causal language model with a cache of slots, one slot a token.

    A slot's parent is the slot of the token before it; the tokens of one path attend to each other
    only. Decoding methods never touch a cache tensor.
    """

    label: str
    precision: str
    device: str
    context_limit: int
    vocab_size: int
    supports_tree: bool

    @property
    def length(self) -> int:
        """How many slots are in use."""
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

    def keep(self, slots: Sequence[int]) -> None:
        """Keep one path of the tree: `slots`, each the parent of the next, and the ancestors of the first."""
        ...

    def crop(self, length: int) -> None:
        """Forget all slots from `length` on."""
        ...


class ContextFull(ValueError):
    """The tokens do not fit in the model's context."""
