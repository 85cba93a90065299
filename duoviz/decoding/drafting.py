"""Dynamic multi-sequence drafting: θ, k, the tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from duoviz.decoding.acceptance_table import MIDDLES, MOST, Chances, of_rank
from duoviz.decoding.choosing import AT_ONCE, NOT_FINITE, Choice, Row, chosen_of, is_compiled, read, step
from duoviz.decoding.forward import timed_prefill
from duoviz.decoding.iteration import Candidate, Node, Span
from duoviz.decoding.sampling import DraftNotFinite, Sampling
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.worker.protocol import DraftState, DraftWorker
from duoviz.models.language_model import LanguageModel, over_vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from duoviz.models.copying import Copying
    from duoviz.models.steps import Sureness


class StopRule(NamedTuple):
    """How sure a sequence must be to go on: the product of its tokens' chances is above `least`.

    chances: of the draft's tokens (see `AcceptanceTable.at`).
    """

    chances: Chances
    least: float


class DraftPlan(NamedTuple):
    """How much to draft.

    budget: γ, in single-sequence steps. steps: for k = 1..8 the number of batched steps that fill the same time, with
    the first two, which serve one sequence. longest: most tokens of a sequence, γ at most. rule: where a batched
    sequence ends earlier (None: nowhere). fresh: for the classical rule, the drafting round's number: tokens are drawn
    with the round's own noise, and their distributions are kept; None: the target's noise. ends: end-of-text tokens.
    at_once: nobody waits who could want fewer steps, so a compiled draft does them in one call.
    """

    budget: int
    steps: tuple[int, ...]
    sequences: int | Literal["dynamic"]
    draft_mode: Literal["batched", "paper"]
    longest: int
    sampling: Sampling = Sampling()
    fresh: int | None = None
    rule: StopRule | None = None
    ends: frozenset[int] = frozenset()
    at_once: bool = False

    @property
    def sureness(self) -> Sureness:
        """As compiled code reads it."""
        if self.rule is None:
            return sureness_of(None, self.ends)
        return sureness_of(tuple(self.rule.chances[0]), self.ends)._replace(least=self.rule.least)

    def chance(self, rank: int, q: float) -> float:
        """That the target writes the draft's token of this rank (from 0) and probability; 1 without a rule."""
        return of_rank(self.rule.chances, rank, q) if self.rule else 1.0


@lru_cache(maxsize=8)
def sureness_of(chances: tuple[float, ...] | None, ends: frozenset[int]) -> Sureness:
    """By the chances of the best token, by bin of q, and the ends; the least product is 0. Kept: arrays take time."""
    from duoviz.models.steps import CERTAIN

    sureness = CERTAIN._replace(ends=np.array(sorted(ends), np.int64))
    return sureness if chances is None else sureness._replace(chances=np.array([MIDDLES, np.minimum(chances, MOST)]))


@dataclass
class DraftSequence:
    """One draft sequence: its tokens, their probabilities, and the cache slots of all but the last token.

    The last token is never forwarded. rows: the distributions [columns] that the tokens were drawn from, each with the
    columns' ids (`LanguageModel.known`), if kept. value: the product of the tokens' chances.
    """

    tokens: list[int]
    q: list[float]
    slots: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    value: float = 1.0

    def pays(self, plan: DraftPlan) -> bool:
        """Whether it is worth another token."""
        return self.tokens[-1] not in plan.ends and (plan.rule is None or self.value > plan.rule.least)


@dataclass
class DraftResult:
    """What was drafted after one context; steps: the forwards."""

    sequences: list[DraftSequence]
    candidates: list[Candidate]
    theta: float | None
    steps: list[Span]

    def tree(self) -> list[Node]:
        """The sequences as nodes, one after another; the first token of each is a child of the root (-1)."""
        nodes: list[Node] = []
        for sequence in self.sequences:
            parent = -1
            for token, q in zip(sequence.tokens, sequence.q, strict=True):
                nodes.append(Node(token, parent, "draft", q=q))
                parent = len(nodes) - 1
        return nodes


class Drafted(NamedTuple):
    """What a `DraftRequest` leaves for the next request; pending_rows: the pending tokens' distributions."""

    result: DraftResult
    pending_rows: list[Row]


@dataclass(frozen=True)
class DraftRequest:
    """Draft after a new context; the answer is a `DraftResult`.

    keep: index of the last drafted sequence that is now part of the context, or None; kept: how many of its tokens
    come before new_tokens. crop: without any such token, how many tokens of the old context stay.
    """

    keep: int | None
    crop: int
    new_tokens: tuple[int, ...]
    plan: DraftPlan
    kept: int = 0

    def answers(
        self, draft: DraftState, *, waits: Callable[[], bool], stopped: Callable[[], bool]
    ) -> Iterator[DraftResult]:
        pending_rows = self.roll_back(draft)
        result = grow_sequences(draft.model, self.new_tokens, self.plan, stopped=stopped, enough=waits)
        draft.kept = Drafted(result, pending_rows)
        if self.plan.fresh is not None:
            result = replace(result, sequences=[replace(sequence, rows=[]) for sequence in result.sequences])
        yield result

    def roll_back(self, draft: DraftState) -> list[Row]:
        """Keep in the cache what belongs to the new context; returns the pending tokens' rows."""
        sequence = draft.kept.result.sequences[self.keep] if self.keep is not None else None
        if sequence and self.kept:
            draft.model.keep(sequence.slots[: self.kept])
        else:
            draft.model.crop(self.crop)
        return sequence.rows[1 : self.kept + 1] if sequence else []


@dataclass(frozen=True)
class RowRequest:
    """The distribution that the draft drew from after a row of the target's forward, float64 [vocab].

    Row 0 is after the verified text, row i after the i-th pending token; rows beyond are after the tokens of the first
    sequence drafted since, whose first row is the one that all first tokens share.
    """

    row: int

    def answers(self, draft: DraftState, **asked) -> Iterator[np.ndarray]:
        from torch import from_numpy

        row, known = [*draft.kept.pending_rows, *draft.kept.result.sequences[0].rows][self.row]
        yield over_vocabulary(from_numpy(row), known).double().numpy()


def row_of_draft(draft: DraftWorker, vocabulary: int) -> Callable[[int], Tensor]:
    """A function that asks the draft for a row (see `RowRequest`) and widens it to the target's vocabulary."""

    def row_of(row: int) -> Tensor:
        from torch import from_numpy

        draft.submit(RowRequest(row))
        return from_numpy(np.pad(q := draft.result(), (0, vocabulary - len(q))))

    return row_of


def threshold(first: float, second: float) -> float:
    """θ = p(1,1) · p(2,1): the draft's top probability now, times that after its top first token (§3.3)."""
    return first * second


def number_of_sequences(first_tokens: Sequence[float], theta: float, budget: int) -> int:
    """k: how many first tokens are more probable than θ; at most γ and 8, at least 1."""
    over = sum(p > theta for p in first_tokens)
    return max(1, min(over, budget, MAX_SEQUENCES))


def branch_lengths(budget: int, k: int) -> list[int]:
    """γ tokens shared among k sequences; the first γ mod k get one more."""
    return [budget // k + (index < budget % k) for index in range(k)]


def grow_sequences(
    model: LanguageModel,
    new_tokens: Sequence[int],
    plan: DraftPlan,
    *,
    stopped: Callable[[], bool] = bool,
    enough: Callable[[], bool] = bool,
) -> DraftResult:
    """Forward the context's new tokens, then grow k sequences after it (§3.3).

    Step 1 gives the first tokens; step 2 forwards the best of them, which gives p(2,1), hence θ and k; from step 3 on
    all sequences grow together, the first one a token ahead (batched), or one after another (paper). First tokens are
    the k most probable, or sampled the k most likely draws of the target, which meets the same noise. enough: whether
    to end, asked before each batched step. Raises Stopped where `stopped` says so while the new tokens are read.
    """
    if plan.at_once and is_compiled(model, plan.sampling):
        return grow_at_once(model, new_tokens, plan, stopped=stopped)
    (first,), span = read(model, new_tokens, plan.sampling, MAX_SEQUENCES, plan.fresh, stopped=stopped)
    root = model.length - 1
    best_p = [p for _, p in first.likeliest]
    starts = first_sequences(first, MAX_SEQUENCES if plan.sequences == "dynamic" else plan.sequences, plan)
    steps, sequences, theta = [span], starts[:1], None
    if plan.longest > 1 and not enough() and starts[0].pays(plan):
        theta = threshold(best_p[0], grow(model, sequences, root, steps, plan)[0])
        k = number_of_sequences(best_p, theta, plan.budget) if plan.sequences == "dynamic" else plan.sequences
        sequences = starts[: min(k, plan.budget) if model.supports_tree else 1]
        if plan.draft_mode == "batched":
            grow_together(model, sequences, root, steps, plan, enough=enough)
        else:
            grow_in_turn(model, sequences, root, steps, plan)
    return DraftResult(sequences, candidates_of(first, theta), theta, steps)


def candidates_of(first: Choice, theta: float | None) -> list[Candidate]:
    return [Candidate(token, p, theta is not None and p > theta) for token, p in first.likeliest]


def grow_at_once(
    model: Copying, new_tokens: Sequence[int], plan: DraftPlan, *, stopped: Callable[[], bool]
) -> DraftResult:
    """`grow_sequences` of one sequence, in one compiled call; a long text is read before it, as fast as that goes."""
    start, count = time.perf_counter(), len(new_tokens)
    if count > AT_ONCE:
        timed_prefill(model, new_tokens[:-1], stopped=stopped)
        new_tokens = new_tokens[-1:]
    root = model.length + len(new_tokens) - 1
    done = model.best(new_tokens, count=MAX_SEQUENCES, most=plan.longest, sureness=plan.sureness)
    tokens, q, ended = done.path()
    if isnan(q[-1]):
        raise DraftNotFinite(NOT_FINITE)
    steps = [Span(start, ended[0], count), *(Span(*times, 1) for times in pairwise(ended))]
    sequence = DraftSequence(tokens, q, list(range(root + 1, root + len(tokens))))
    theta = threshold(*q[:2]) if len(q) > 1 else None
    first = chosen_of(done.best[0].tolist(), done.q[0].tolist())
    return DraftResult([sequence], candidates_of(first, theta), theta, steps)


def first_sequences(first: Choice, most: int, plan: DraftPlan) -> list[DraftSequence]:
    """One branch for each of at most so many first tokens that can be drawn at all."""
    return [
        DraftSequence([token], [q], rows=[first.row] if first.row else [], value=plan.chance(rank, q))
        for rank, (token, q) in enumerate(zip(first.tokens[:most], first.q, strict=False))
        if q > 0
    ]


def grow_together(
    model: LanguageModel,
    sequences: Sequence[DraftSequence],
    root: int,
    steps: list[Span],
    plan: DraftPlan,
    *,
    enough: Callable[[], bool],
) -> None:
    """Steps of all sequences that still pay, as many as fill the budget's time."""
    total = min(plan.steps[len(sequences) - 1], plan.longest)
    while len(steps) < total and not enough() and (paying := [branch for branch in sequences if branch.pays(plan)]):
        grow(model, paying, root, steps, plan)


def grow_in_turn(
    model: LanguageModel, sequences: Sequence[DraftSequence], root: int, steps: list[Span], plan: DraftPlan
) -> None:
    """One sequence after another to its length; a token of the first beyond that, which θ needed, is dropped."""
    for sequence, length in zip(sequences, branch_lengths(plan.budget, len(sequences)), strict=True):
        while len(sequence.tokens) < min(length, plan.longest) and sequence.pays(plan):
            grow(model, [sequence], root, steps, plan)
        if len(sequence.tokens) > length:
            del sequence.tokens[length:], sequence.q[length:], sequence.slots[length - 1 :], sequence.rows[length:]


def grow(
    model: LanguageModel, sequences: Sequence[DraftSequence], root: int, steps: list[Span], plan: DraftPlan
) -> list[float]:
    """One draft step: forward each sequence's last token and append the next one, drawn from q.

    Returns the largest p of each row: θ may depend on the row, never on the token drawn from it.
    """
    slot = model.length
    parents = [sequence.slots[-1] if sequence.slots else root for sequence in sequences]
    tokens = [sequence.tokens[-1] for sequence in sequences]
    positions = [root + 1 + len(sequence.tokens) for sequence in sequences]
    chosen, span = step(model, tokens, parents, positions, plan.sampling, 1, plan.fresh)
    steps.append(span)
    for index, (sequence, choice) in enumerate(zip(sequences, chosen, strict=True)):
        sequence.slots.append(slot + index)
        sequence.tokens += choice.tokens
        sequence.q += choice.q
        sequence.value *= plan.chance(0, choice.q[0])
        if choice.row:
            sequence.rows.append(choice.row)
    return [choice.likeliest[0][1] for choice in chosen]
