"""What a draft is asked to do, and what it answers."""

from dataclasses import dataclass, field

import numpy as np

from duoviz.decoding.acceptance_table import Recalibration
from duoviz.decoding.drafting import DraftPlan, DraftResult
from duoviz.decoding.duotree.tree import Expansion, TreeConfig


@dataclass(frozen=True)
class DraftRequest:
    """Draft after a new context.

    keep: the sequence of the last drafted ones whose tokens are now part of the context, or None;
    kept: how many of its tokens come before new_tokens. crop: where none do, how many tokens of the
    old context stay. new_tokens: what comes after.
    """

    keep: int | None
    crop: int
    new_tokens: tuple[int, ...]
    plan: DraftPlan
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
class ExpandRequest:
    """The text goes on with these tokens: grow its tree until another request comes.

    Each step's `Expansion` is sent at once, and None at the end. draft_seconds: T_draft(1), T_draft(2), …, which decide
    how wide the steps are. recalibration: of the tree's chances, as the run has it by now; the pipe copies it. config:
    given where a run begins; the tokens are its prompt then.
    """

    tokens: tuple[int, ...]
    draft_seconds: tuple[float, ...]
    recalibration: Recalibration = field(default_factory=Recalibration)
    config: TreeConfig | None = None


@dataclass(frozen=True)
class PauseRequest:
    """Compute nothing until the next request; the answer is None."""


@dataclass(frozen=True)
class EnoughRequest:
    """Answer the request before with what is drafted by now; this one has no answer of its own."""


Request = DraftRequest | MeasureRequest | RowRequest | ExpandRequest | PauseRequest | EnoughRequest
Answer = DraftResult | dict[int, float] | np.ndarray | Expansion | None
