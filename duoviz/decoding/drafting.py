"""Dynamic multi-sequence drafting: θ, k, the tree."""

import time
from collections.abc import Callable
from collections.abc import Sequence as ManyOf
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from torch import Tensor

from duoviz.decoding.chances import Chances, corrected
from duoviz.decoding.iteration import Candidate, Node, Span, timed_forward, timed_prefill
from duoviz.decoding.sampling import FIRST_FRESH, SHARED, Sampling, filtered, scores, tempered
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.models.columns import ids_of, over_vocabulary
from duoviz.models.language_model import LanguageModel


class Worth(NamedTuple):
    """How sure a sequence must be to go on: the product of its tokens' chances is above `least`.

    trust: how much oftener than the table says this run's tokens are right. first: whether the first token counts;
    it does not where the others are met only once it was right.
    """

    chances: Chances
    trust: float
    least: float
    first: bool


class Plan(NamedTuple):
    """How much to draft.

    budget: γ, in single-sequence steps. steps: for k = 1..8 the number of steps that fill the same
    time in batched mode, the first two (which serve one sequence) among them. longest: how many
    tokens a sequence may have, γ at most. worth: in batched mode, where a sequence ends before; None: nowhere.
    fresh: for the classical rule, the number of the drafting round: tokens are drawn with this
    round's own noise, and the distributions they come from are kept; None: with the target's noise.
    """

    budget: int
    steps: tuple[int, ...]
    sequences: int | Literal["dynamic"]
    draft_mode: Literal["batched", "paper"]
    longest: int
    sampling: Sampling = Sampling()
    fresh: int | None = None
    worth: Worth | None = None

    def chance(self, rank: int, q: float) -> float:
        """Of the draft's token of this rank and probability; 1 where nobody asks."""
        if not self.worth:
            return 1.0
        chance = self.worth.chances.of_drafted(rank, q, temperature=self.sampling.temperature)
        return corrected(chance, self.worth.trust)


@dataclass
class Branch:
    """One draft sequence: its tokens, their probabilities, and the slots of all tokens but the last.

    The last token is never forwarded: its step would only tell what comes after it. rows: where the
    plan keeps them, the distributions [vocab] that the tokens were drawn from.
    """

    tokens: list[int]
    q: list[float]
    slots: list[int] = field(default_factory=list)
    rows: list[Tensor] = field(default_factory=list)
    value: float = 1.0

    def pays(self, plan: Plan) -> bool:
        """Whether it is worth another token."""
        return plan.worth is None or self.value > plan.worth.least


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


def draft(model: LanguageModel, new_tokens: ManyOf[int], plan: Plan, *, stopped: Callable[[], bool] = bool) -> Drafted:
    """Forward the context's new tokens, then grow k sequences after it.

    Step 1 gives the first tokens; step 2 forwards the best of them, which gives p(2,1), hence θ and
    k; from step 3 on all sequences grow together, the first one a token ahead (batched mode), or
    one after another (paper mode). Greedy, the first tokens are the k most probable; sampled, the k
    that the target's draw at this position, which meets the same noise, is most likely to be.
    Raises Stopped where `stopped` says so while the new tokens are read.
    """
    logits, span = timed_prefill(model, new_tokens, stopped=stopped)
    root = model.length - 1
    p, q, score = proposals(model, logits, [root + 1], plan.sampling, plan.fresh)
    best_p, best = p[0].topk(min(MAX_SEQUENCES, p.shape[-1]))
    best_p, best = best_p.tolist(), ids_of(best, model.known)
    starts = first_branches(model, q[0], score[0], plan)
    steps = [ended_now(span)]
    lead = starts[0]
    if plan.longest == 1 or not lead.pays(plan):
        candidates = [Candidate(token, probability, False) for token, probability in zip(best, best_p, strict=True)]
        return Drafted([lead], candidates, None, steps)

    theta = threshold(best_p[0], grow(model, [lead], root, steps, plan)[0])
    candidates = [Candidate(token, each, each > theta) for token, each in zip(best, best_p, strict=True)]
    k = number_of_sequences(best_p, theta, plan.budget) if plan.sequences == "dynamic" else plan.sequences
    if not model.supports_tree:
        k = 1
    branches = starts[: min(k, plan.budget)]
    if plan.draft_mode == "batched":
        total = min(plan.steps[len(branches) - 1], plan.longest)
        grow_together(model, branches, root, steps, plan, total=total)
    else:
        grow_in_turn(model, branches, root, steps, plan, lengths=branch_lengths(plan.budget, len(branches)))
    return Drafted(branches, candidates, theta, steps)


def proposals(
    model: LanguageModel, logits: Tensor, positions: ManyOf[int], sampling: Sampling, fresh: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """For the model's logits [rows, vocab]: p, their softmax at the sampling temperature, which θ and k are made of; q,
    what is drawn from (p after top-k and top-p); and the scores that order q's draws (see `sampling.scores`).

    positions: for each row, the place in the text of the token after it. All is on the processor, where the noise is.
    """
    p = tempered(logits.cpu(), sampling.temperature)
    if sampling.temperature == 0:
        return p, p, p
    q = filtered(p, top_k=sampling.top_k, top_p=sampling.top_p)
    stream = SHARED if fresh is None else FIRST_FRESH + fresh
    return p, q, scores(q, positions, sampling, stream=stream, known=model.known)


def first_branches(model: LanguageModel, q: Tensor, score: Tensor, plan: Plan) -> list[Branch]:
    """One branch for each of the best first tokens (at most 8) that can be drawn at all, the best first."""
    order = score.topk(min(MAX_SEQUENCES, len(score))).indices
    rows = [] if plan.fresh is None else [over_vocabulary(q, model.known)]
    counts = plan.worth is not None and plan.worth.first
    return [
        Branch([token], [probability], rows=list(rows), value=plan.chance(rank, probability) if counts else 1.0)
        for rank, (token, probability) in enumerate(zip(ids_of(order, model.known), q[order].tolist(), strict=True))
        if probability > 0
    ]


def grow_together(
    model: LanguageModel, branches: list[Branch], root: int, steps: list[Span], plan: Plan, *, total: int
) -> None:
    """One forward a step for all sequences that pay, until `total` steps have been made."""
    while len(steps) < total and (paying := [branch for branch in branches if branch.pays(plan)]):
        grow(model, paying, root, steps, plan)


def grow_in_turn(
    model: LanguageModel, branches: list[Branch], root: int, steps: list[Span], plan: Plan, *, lengths: list[int]
) -> None:
    """One sequence after another to its length; the first may have a token more than its share already.

    That token was needed for θ; it is dropped, so that γ tokens are drafted in all.
    """
    for branch, length in zip(branches, lengths, strict=True):
        while len(branch.tokens) < min(length, plan.longest):
            grow(model, [branch], root, steps, plan)
        if len(branch.tokens) > length:
            del branch.tokens[length:], branch.q[length:], branch.slots[length - 1 :], branch.rows[length:]


def grow(model: LanguageModel, branches: ManyOf[Branch], root: int, steps: list[Span], plan: Plan) -> list[float]:
    """One draft step: forward the last token of each branch and append the next one, drawn from q.

    Returns the largest p of each branch's row: whether a token is dropped later may depend on the
    row, never on the token drawn from it.
    """
    slot = model.length
    parents = [branch.slots[-1] if branch.slots else root for branch in branches]
    logits, span = timed_forward(model, [branch.tokens[-1] for branch in branches], parents=parents)
    positions = [root + 1 + len(branch.tokens) for branch in branches]
    p, q, score = proposals(model, logits, positions, plan.sampling, plan.fresh)
    drawn = score.argmax(dim=-1, keepdim=True)
    tokens, probabilities = ids_of(drawn[:, 0], model.known), q.gather(-1, drawn)[:, 0].tolist()
    largest = probabilities if q is p and q is score else p.amax(dim=-1).tolist()
    steps.append(ended_now(span))
    for index, branch in enumerate(branches):
        branch.slots.append(slot + index)
        branch.tokens.append(tokens[index])
        branch.q.append(probabilities[index])
        branch.value *= plan.chance(0, probabilities[index])
        if plan.fresh is not None:
            branch.rows.append(over_vocabulary(q[index], model.known))
    return largest


def ended_now(span: Span) -> Span:
    """The span of a draft step: its forward and the choice of tokens after it."""
    return span._replace(end=time.perf_counter())
