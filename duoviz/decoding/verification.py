"""Verification: which proposed tokens the text may keep and still be the target's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.sampling import RejectionNoise, TargetDraws

if TYPE_CHECKING:
    from torch import Tensor


class VerifyResult(NamedTuple):
    """path: indices of the accepted nodes, root first; target_token: the target's after the path, None where the
    forward did not reach that far; rejected: indices of the nodes that were refused."""

    path: list[int]
    target_token: int | None
    rejected: list[int]


class Classical(NamedTuple):
    """What the classical rule needs. draft_row: the full distribution q, float64 [vocab], that the children after a row
    were drawn from; called only after a rejection."""

    noise: RejectionNoise
    draft_row: Callable[[int], Tensor]


def verify(
    tree: Sequence[Node],
    drafted: list[Node],
    target_tokens: TargetDraws,
    classical: Classical | None = None,
    *,
    target: Span,
    cut: Callable[[list[Node]], tuple[list[Node], str | None]],
) -> Iteration:
    """Verify the tree that the target has read, and the first tokens of what was drafted after its last node meanwhile.

    Sets the nodes' p, margin and status, and adds the target's own token. classical: the rule to accept by; None:
    `verify_coupled`. target: the forward's span. cut: which tokens still belong to the text, and why it ends there.
    """
    pending = [node for node in tree if node.status == "pending"]
    firsts = [index for index, node in enumerate(drafted) if node.parent == -1 and node.status == "pending"]
    tested = [*pending, *(replace(drafted[index], parent=len(tree) - 1) for index in firsts)]
    path, token, rejected = (
        verify_by_rejection(tested, target_tokens, classical) if classical else verify_coupled(tested, target_tokens)
    )
    mark(tested, path, rejected)
    for index in {*path, *rejected}:
        node, row = tested[index], target_tokens.row(tested[index].parent + 1)
        node.p = row.probability(node.token)
        node.margin = row.margin if node.status == "accepted" and not classical else None
    for index, node in zip(firsts, tested[len(pending) :], strict=True):
        drafted[index].p, drafted[index].status = node.p, node.status

    checked, committed, sequence, accepted = list(tree), [tested[index] for index in path], None, len(path)
    outcome = "hit" if accepted else "none"
    if token is None:
        sequence = 1 + path[-1] - len(tree)
        keep_sequence(drafted, firsts[sequence - 1])
    else:
        parent = path[-1] if path else -1
        row = target_tokens.row(parent + 1)
        margin = None if classical else row.margin
        correction = Node(token, parent, "target", p=row.probability(token), margin=margin, status="correction")
        committed.append(correction)
        discard(drafted)
        if firsts and accepted == len(tree):
            outcome = "miss"
            drafted.append(replace(correction, parent=-1))
        else:
            outcome = "rejection" if rejected else outcome
            checked.append(correction)
    committed, stop = cut(committed)
    return Iteration(
        target=target,
        sync=time.perf_counter(),
        checked=checked,
        drafted=drafted,
        committed=committed,
        outcome=outcome,
        tested=accepted + (token is not None and bool(rejected)),
        accepted=accepted,
        sequence=sequence,
        stop=stop,
    )


def mark(tree: Sequence[Node], path: Sequence[int], rejected: Sequence[int]) -> None:
    """Set each node's status: accepted on the path, rejected where it was refused, else discarded."""
    for index, node in enumerate(tree):
        node.status = "accepted" if index in path else "rejected" if index in rejected else "discarded"


def discard(nodes: Sequence[Node]) -> None:
    """Pending nodes become discarded."""
    for node in nodes:
        if node.status == "pending":
            node.status = "discarded"


def keep_sequence(drafted: Sequence[Node], first: int) -> None:
    """Discard all but the sequence whose first token has the index `first`."""
    last = first
    for index, node in enumerate(drafted):
        if node.parent == last:
            last = index
        else:
            discard([node])


def children(tree: Sequence[Node], parent: int) -> list[int]:
    """Indices of the nodes under a node, in their order."""
    return [index for index, node in enumerate(tree) if node.parent == parent]


def verify_coupled(tree: Sequence[Node], target_tokens: TargetDraws | Sequence[int]) -> VerifyResult:
    """Coupled acceptance: walk down the tree as long as a child is the target's own token.

    target_tokens[0] is the target's token after the text, target_tokens[i + 1] the one after node i; a node without
    ends the walk. The target's tokens do not depend on what was drafted, so the text is vanilla's, greedy or sampled:
    with shared noise (the Gumbel-max coupling, Daliri et al. 2024, arXiv 2408.07978), in trees as in SpecInfer (Miao
    et al. 2023, arXiv 2305.09781, §4).
    """
    path: list[int] = []
    place = -1
    while place + 1 < len(target_tokens):
        token = target_tokens[place + 1]
        tested = children(tree, place)
        child = next((index for index in tested if tree[index].token == token), None)
        if child is None:
            return VerifyResult(path, token, tested)
        path.append(child)
        place = child
    return VerifyResult(path, None, [])


def verify_by_rejection(tree: Sequence[Node], target_tokens: TargetDraws, classical: Classical) -> VerifyResult:
    """The classical rule of speculative sampling: the committed token has the target's distribution.

    Leviathan et al. 2023 (arXiv 2211.17192, §2.3), Chen et al. 2023 (arXiv 2302.01318, algorithm 2): a token x
    drafted from q is accepted with probability min(1, p(x) / q(x)); else p becomes norm(max(p − q, 0)). Siblings, drawn
    from q without replacement, are tested in their order, each against the p and q left by those before (SpecInfer,
    algorithm 2); if none is accepted, the token is drawn from the p that is left.
    """
    path: list[int] = []
    rejected: list[int] = []
    place = -1
    while place + 1 < len(target_tokens):
        row, accepted = place + 1, None
        p, q = target_tokens.row(row).distribution, None
        for trial, child in enumerate(children(tree, place)):
            token = tree[child].token
            drafted = tree[child].q if q is None else float(q[token])
            assert drafted is not None
            if classical.noise.accepts(acceptance(float(p[token]), drafted), target_tokens.positions[row], trial):
                accepted = child
                break
            rejected.append(child)
            q = classical.draft_row(row) if q is None else q
            p, q = residual(p, q), without(q, token)
        if accepted is None:
            return VerifyResult(path, classical.noise.picks(p, target_tokens.positions[row]), rejected)
        path.append(accepted)
        place = accepted
    return VerifyResult(path, None, rejected)


def acceptance(p: float, q: float) -> float:
    """min(1, p(x) / q(x)): how likely a token x drafted from q is accepted."""
    return min(1.0, p / q)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """norm(max(p − q, 0)), [vocab]: the residual after a token from q was refused."""
    rest = (p - q).clamp(min=0.0)
    total = rest.sum()
    # Nothing is left only if the distributions are equal up to rounding.
    return rest / total if total > 0 else p


def without(q: Tensor, token: int) -> Tensor:
    """q [vocab] without a token, renormalised: what the next sibling was drawn from."""
    rest = q.clone()
    rest[token] = 0.0
    return rest / rest.sum() if rest.sum() > 0 else rest
