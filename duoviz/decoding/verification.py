"""Lossless acceptance: which drafted tokens become part of the text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from duoviz.decoding.iteration import Node
from duoviz.decoding.sampling import Chance, Choices
from duoviz.decoding.settings import Settings


class Verdict(NamedTuple):
    """path: indices of the accepted nodes, root first; own: the target's token after the path, None
    where the target's forward did not get there; rejected: indices of the nodes that were refused."""

    path: list[int]
    own: int | None
    rejected: list[int]


def check(
    tree: Sequence[Node], own: Choices, settings: Settings, *, draft_row: Callable[[int], Tensor] | None = None
) -> Verdict:
    """Verify by the acceptance rule of the settings; draft_row: see `verify_by_rejection`."""
    if settings.by_rejection:
        return verify_by_rejection(tree, own, draft_row, Chance(settings.seed))
    return verify(tree, own)


def gap(own: Choices, row: int, settings: Settings) -> float | None:
    """How near the row's token was to being another; the classical rule's chance has no such measure."""
    return None if settings.by_rejection else own.gap(row)


def children(tree: Sequence[Node], parent: int) -> list[int]:
    return [index for index, node in enumerate(tree) if node.parent == parent]


def verify(tree: Sequence[Node], own: Choices | Sequence[int]) -> Verdict:
    """Coupled acceptance: walk down the tree as long as a child is the target's own token.

    own[0] is the target's token after the verified text, own[i + 1] its token after node i; nodes
    without such a token end the walk. The target's token is the same whatever was drafted, so the
    text is vanilla's, greedy or sampled. A chain is the tree with one branch.
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


def verify_by_rejection(
    tree: Sequence[Node], own: Choices, draft_row: Callable[[int], Tensor], chance: Chance
) -> Verdict:
    """The classical rule of speculative sampling: the committed token has the target's distribution.

    A token x drafted from q is accepted with probability min(1, p(x) / q(x)); else p becomes
    norm(max(p − q, 0)). Several children of one node are drawn from q without replacement, in their
    order, and tested one after another, each against what is left of p and q; if none is accepted,
    the token is drawn from what is left of p. draft_row(row): the full distribution q [vocab] that
    the children after a row were drawn from; asked for only after a rejection.
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
            if chance.accepts(acceptance(float(p[token]), drafted), own.positions[row], trial):
                accepted = child
                break
            rejected.append(child)
            q = draft_row(row) if q is None else q
            p, q = residual(p, q), without(q, token)
        if accepted is None:
            return Verdict(path, chance.picks(p, own.positions[row]), rejected)
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


def mark(tree: Sequence[Node], verdict: Verdict) -> None:
    """Set each node's status: accepted on the path, rejected where it was refused, else discarded."""
    accepted, rejected = set(verdict.path), set(verdict.rejected)
    for index, node in enumerate(tree):
        node.status = "accepted" if index in accepted else "rejected" if index in rejected else "discarded"
