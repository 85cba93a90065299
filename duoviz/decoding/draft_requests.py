"""What a draft is asked to do, and what it answers."""

from dataclasses import dataclass, field

import numpy as np

from duoviz.decoding.chances import Trust
from duoviz.decoding.drafting import Drafted, Plan
from duoviz.decoding.growing import Grown, Growth


@dataclass(frozen=True)
class DraftRequest:
    """Draft after a new context.

    keep: the branch of the last drafted tree whose tokens are now part of the context, or None;
    kept: how many of its tokens come before new_tokens. crop: where none do, how many tokens of the
    old context stay. new_tokens: what comes after.
    """

    keep: int | None
    crop: int
    new_tokens: tuple[int, ...]
    plan: Plan
    kept: int = 0


@dataclass(frozen=True)
class MeasureRequest:
    """Time one draft step with 1..8 rows after a context of `context` tokens, for `seconds` at least."""

    context: int
    seconds: float


@dataclass(frozen=True)
class RowRequest:
    """The distribution that the draft drew from after a row of the target's forward, float64 [vocab].

    Row 0 is after the verified text, row i after the i-th pending token; rows beyond are after the
    tokens of the first sequence drafted since.
    """

    row: int


@dataclass(frozen=True)
class GrowRequest:
    """The text goes on with these tokens: grow its tree until another request comes.

    Each step's `Grown` is told at once, and None at the end. draft_seconds: T_draft(1), T_draft(2), …, which decide
    how wide the steps are. trust: in the tree's chances, as the run has it by now. growth: given where a run begins;
    the tokens are its prompt then.
    """

    tokens: tuple[int, ...]
    draft_seconds: tuple[float, ...]
    trust: Trust = field(default_factory=Trust)
    growth: Growth | None = None


@dataclass(frozen=True)
class PauseRequest:
    """Compute nothing until the next request; the answer is None."""


Request = DraftRequest | MeasureRequest | RowRequest | GrowRequest | PauseRequest
Answer = Drafted | dict[int, float] | np.ndarray | Grown | None
