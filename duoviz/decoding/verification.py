"""Verification: which proposed tokens become part of the text, so that it is the target's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from duoviz.decoding.iteration import Committed, Node, Span, Verified
from duoviz.decoding.sampling import RejectionNoise, TargetDraws

if TYPE_CHECKING:
    from torch import Tensor


class Verdict(NamedTuple):
    """path: indices of the accepted nodes, root first; own: the target's token after the path, None
    where the target's forward did not get there; rejected: indices of the nodes that were refused."""

    path: list[int]
    own: int | None
    rejected: list[int]


class Classical(NamedTuple):
    """What the classical rule needs: its noise, and the full distribution q, float64 [vocab], that the children after
    a row were drawn from; asked for only after a rejection."""

    noise: RejectionNoise
    draft_row: Callable[[int], Tensor]


def judge(
    tree: Sequence[Node],
    drafted: list[Node],
    own: TargetDraws,
    classical: Classical | None = None,
    *,
    target: Span,
    cut: Callable[[list[Committed]], tuple[list[Committed], str | None]],
) -> Verified:
    """Verify a tree that the target has read, and the first tokens of what was drafted after its last node meanwhile.

    Sets the nodes' p and status. classical: the rule to accept by; None: coupled, see `verify`. target: the forward.
    cut: gives the tokens that still belong to the text, and why it ends there (see `Room.cut`).
    """
    pending = [node for node in tree if node.status == "pending"]
    firsts = [index for index, node in enumerate(drafted) if node.parent == -1 and node.status == "pending"]
    tested = [*pending, *(replace(drafted[index], parent=len(tree) - 1) for index in firsts)]
    verdict = verify_by_rejection(tested, own, classical) if classical else verify(tested, own)
    mark(tested, verdict)
    for index in {*verdict.path, *verdict.rejected}:
        tested[index].p = own.probability(tested[index].parent + 1, tested[index].token)
    for index, node in zip(firsts, tested[len(pending) :], strict=True):
        drafted[index].p, drafted[index].status = node.p, node.status

    rows = [tested[index].parent + 1 for index in verdict.path]
    committed = [
        Committed(tested[index].token, tested[index].source, None if classical else own.gap(row))
        for index, row in zip(verdict.path, rows, strict=True)
    ]
    checked, sequence, accepted = list(tree), None, len(verdict.path)
    outcome = "hit" if accepted else "none"
    if verdict.own is None:
        sequence = 1 + verdict.path[-1] - len(tree)
        keep_sequence(drafted, firsts[sequence - 1])
    else:
        parent = verdict.path[-1] if verdict.path else -1
        committed.append(Committed(verdict.own, "target", None if classical else own.gap(parent + 1)))
        mine = Node(verdict.own, parent, "target", p=own.probability(parent + 1, verdict.own), status="correction")
        discard(drafted)
        if firsts and accepted == len(tree):
            outcome = "miss"
            drafted.append(replace(mine, parent=-1))
        else:
            outcome = "rejection" if verdict.rejected else outcome
            checked.append(mine)
    committed, stop = cut(committed)
    return Verified(
        target=target,
        sync=time.perf_counter(),
        checked=checked,
        drafted=drafted,
        committed=committed,
        outcome=outcome,
        tested=accepted + (verdict.own is not None and bool(verdict.rejected)),
        accepted=accepted,
        sequence=sequence,
        stop=stop,
    )


def mark(tree: Sequence[Node], verdict: Verdict) -> None:
    """Set each node's status: accepted on the path, rejected where it was refused, else discarded."""
    accepted, rejected = set(verdict.path), set(verdict.rejected)
    for index, node in enumerate(tree):
        node.status = "accepted" if index in accepted else "rejected" if index in rejected else "discarded"


def discard(nodes: Sequence[Node]) -> None:
    """Nothing that is pending is of use any more."""
    for node in nodes:
        if node.status == "pending":
            node.status = "discarded"


def keep_sequence(drafted: Sequence[Node], first: int) -> None:
    """The sequence whose first token is at the index `first` stays; all other tokens are discarded."""
    last = first
    for index, node in enumerate(drafted):
        if node.parent == last and index > first:
            last = index
        else:
            discard([node])


def children(tree: Sequence[Node], parent: int) -> list[int]:
    """Indices of the nodes under a node, in their order."""
    return [index for index, node in enumerate(tree) if node.parent == parent]


def verify(tree: Sequence[Node], own: TargetDraws | Sequence[int]) -> Verdict:
    """Coupled acceptance: walk down the tree as long as a child is the target's own token.

    own[0] is the target's token after the verified text, own[i + 1] its token after node i; nodes
    without such a token end the walk. The target's token is the same whatever was drafted, so the
    text is vanilla's, greedy or sampled: with shared noise (the Gumbel-max coupling, Daliri et al. 2024,
    arXiv 2408.07978) and in trees as in SpecInfer (Miao et al. 2023, arXiv 2305.09781, §4).
    """
    path: list[int] = []
    place = -1
    while place + 1 < len(own):
        wanted = own[place + 1]
        tested = children(tree, place)
        child = next((index for index in tested if tree[index].token == wanted), None)
        if child is None:
            return Verdict(path, wanted, tested)
        path.append(child)
        place = child
    return Verdict(path, None, [])


def verify_by_rejection(tree: Sequence[Node], own: TargetDraws, classical: Classical) -> Verdict:
    """The classical rule of speculative sampling: the committed token has the target's distribution.

    Leviathan et al. 2023 (arXiv 2211.17192, §2.3), Chen et al. 2023 (arXiv 2302.01318, algorithm 2): a token x
    drafted from q is accepted with probability min(1, p(x) / q(x)); else p becomes norm(max(p − q, 0)). Several
    children of one node are drawn from q without replacement, in their order, and tested one after another, each
    against what is left of p and q (SpecInfer, algorithm 2); if none is accepted, the token is drawn from what is
    left of p.
    """
    path: list[int] = []
    rejected: list[int] = []
    place = -1
    while place + 1 < len(own):
        row, accepted = place + 1, None
        p, q = own.distribution(row), None
        for trial, child in enumerate(children(tree, place)):
            token = tree[child].token
            drafted = tree[child].q if q is None else float(q[token])
            assert drafted is not None
            if classical.noise.accepts(acceptance(float(p[token]), drafted), own.positions[row], trial):
                accepted = child
                break
            rejected.append(child)
            q = classical.draft_row(row) if q is None else q
            p, q = residual(p, q), without(q, token)
        if accepted is None:
            return Verdict(path, classical.noise.picks(p, own.positions[row]), rejected)
        path.append(accepted)
        place = accepted
    return Verdict(path, None, rejected)


def acceptance(p: float, q: float) -> float:
    """min(1, p(x) / q(x)): how likely a token x drafted from q is accepted."""
    return min(1.0, p / q)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """norm(max(p − q, 0)), [vocab]: what the target still lacks after a token from q was refused."""
    rest = (p - q).clamp(min=0.0)
    total = rest.sum()
    # Equal distributions refuse a token only by rounding, and then leave nothing.
    return rest / total if total > 0 else p


def without(q: Tensor, token: int) -> Tensor:
    """q [vocab] without a token, normalised again: what the next one was drawn from."""
    rest = q.clone()
    rest[token] = 0.0
    return rest / rest.sum() if rest.sum() > 0 else rest
