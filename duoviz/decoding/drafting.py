"""Dynamic multi-sequence drafting: θ, k, the tree."""

import time
from collections.abc import Sequence as ManyOf
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from duoviz.decoding.iteration import Candidate, Node, Span, timed_forward, timed_prefill
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.models.language_model import LanguageModel


class Plan(NamedTuple):
    """How much to draft.

    budget: γ, in single-sequence steps. steps: for k = 1..8 the number of steps that fill the same
    time in batched mode, the first two (which serve one sequence) among them. longest: no sequence
    may be longer.
    """

    budget: int
    steps: tuple[int, ...]
    sequences: int | Literal["dynamic"]
    draft_mode: Literal["batched", "paper"]
    longest: int


@dataclass
class Branch:
    """One draft sequence: its tokens, their probabilities, and the slots of all tokens but the last.

    The last token is never forwarded: its step would only tell what comes after it.
    """

    tokens: list[int]
    q: list[float]
    slots: list[int] = field(default_factory=list)


@dataclass
class Drafted:
    """What the draft proposed after one context."""

    branches: list[Branch]
    candidates: list[Candidate]
    theta: float | None
    steps: list[Span]

    def tree(self) -> list[Node]:
        """The branches as nodes, branch after branch; each branch hangs on the root (-1)."""
        nodes: list[Node] = []
        for branch in self.branches:
            parent = -1
            for token, q in zip(branch.tokens, branch.q, strict=True):
                nodes.append(Node(token, parent, "draft", q=q))
                parent = len(nodes) - 1
        return nodes


def threshold(first: float, second: float) -> float:
    """θ = p(1,1) · p(2,1): the draft's top probability now, times that after its top first token (§3.3)."""
    return first * second


def number_of_sequences(first_tokens: ManyOf[float], theta: float, budget: int) -> int:
    """k: how many first tokens are more probable than θ; at most γ and 8, at least 1."""
    over = sum(p > theta for p in first_tokens)
    return max(1, min(over, budget, MAX_SEQUENCES))


def branch_lengths(budget: int, k: int) -> list[int]:
    """γ tokens shared among k sequences; the first γ mod k get one more."""
    return [budget // k + (index < budget % k) for index in range(k)]


def draft(model: LanguageModel, new_tokens: ManyOf[int], plan: Plan) -> Drafted:
    """Forward the context's new tokens, then grow k sequences after it.

    Step 1 gives the first tokens; step 2 forwards the best of them, which gives p(2,1), hence θ and
    k; from step 3 on all sequences grow together, the first one a token ahead (batched mode), or
    one after another (paper mode).
    """
    logits, span = timed_prefill(model, new_tokens)
    root = model.length - 1
    best_q, best = probabilities(logits)[0].topk(min(MAX_SEQUENCES, logits.shape[-1]))
    first_tokens, first_q = best.tolist(), best_q.tolist()
    steps = [ended_now(span)]
    lead = Branch([first_tokens[0]], [first_q[0]])
    if plan.budget == 1 or plan.longest == 1:
        candidates = [Candidate(token, q, False) for token, q in zip(first_tokens, first_q, strict=True)]
        return Drafted([lead], candidates, None, steps)

    second_q = grow(model, [lead], root, steps)[0]
    theta = threshold(first_q[0], second_q)
    candidates = [Candidate(token, q, q > theta) for token, q in zip(first_tokens, first_q, strict=True)]
    if plan.sequences == "dynamic":
        k = number_of_sequences(first_q, theta, plan.budget)
    else:
        k = min(plan.sequences, plan.budget, len(first_tokens))
    others = [Branch([token], [q]) for token, q in zip(first_tokens[1:k], first_q[1:k], strict=True)]
    branches = [lead, *others]
    if plan.draft_mode == "batched":
        grow_together(model, branches, root, steps, total=min(plan.steps[k - 1], plan.longest))
    else:
        grow_in_turn(model, branches, root, steps, lengths=branch_lengths(plan.budget, k), longest=plan.longest)
    return Drafted(branches, candidates, theta, steps)


def grow_together(model: LanguageModel, branches: list[Branch], root: int, steps: list[Span], *, total: int) -> None:
    """One forward a step for all sequences, until `total` steps have been made."""
    while len(steps) < total:
        grow(model, branches, root, steps)


def grow_in_turn(
    model: LanguageModel, branches: list[Branch], root: int, steps: list[Span], *, lengths: list[int], longest: int
) -> None:
    """One sequence after another to its length; the first may have a token more than its share already.

    That token was needed for θ; it is dropped, so that γ tokens are drafted in all.
    """
    for branch, length in zip(branches, lengths, strict=True):
        while len(branch.tokens) < min(length, longest):
            grow(model, [branch], root, steps)
        if len(branch.tokens) > length:
            del branch.tokens[length:], branch.q[length:], branch.slots[length - 1 :]


def grow(model: LanguageModel, branches: ManyOf[Branch], root: int, steps: list[Span]) -> list[float]:
    """One draft step: forward the last token of each branch and append the most probable next one."""
    slot = model.length
    parents = [branch.slots[-1] if branch.slots else root for branch in branches]
    logits, span = timed_forward(model, [branch.tokens[-1] for branch in branches], parents=parents)
    best_q, best = probabilities(logits).max(dim=-1)
    q, tokens = best_q.tolist(), best.tolist()
    steps.append(ended_now(span))
    for index, (branch, token, probability) in enumerate(zip(branches, tokens, q, strict=True)):
        branch.slots.append(slot + index)
        branch.tokens.append(token)
        branch.q.append(probability)
    return q


def ended_now(span: Span) -> Span:
    """The span of a draft step: its forward and the choice of tokens after it."""
    return span._replace(end=time.perf_counter())


def probabilities(logits: Tensor) -> Tensor:
    """softmax in float32 (float64 where the logits are), [n, vocab]."""
    dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
    return logits.softmax(dim=-1, dtype=dtype)
