"""What one iteration proposed, verified and committed, with raw timestamps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """One forward: start and end in seconds of the system's monotonic clock, and how many tokens it read."""

    start: float
    end: float
    tokens: int

    @property
    def seconds(self) -> float:
        return self.end - self.start


class Candidate(NamedTuple):
    """A first token that the draft considered, with its probability; `over`: p > θ."""

    token: int
    p: float
    over: bool


@dataclass
class Node:
    """A proposed token in a tree; see the trace schema for the fields and the statuses."""

    token: int
    parent: int
    source: str
    q: float | None = None
    count: int | None = None
    p: float | None = None
    status: str = "pending"
    chance: float | None = None
    step: int | None = None
    was: int | None = None


class Committed(NamedTuple):
    """A verified token, where it came from, and how far in logits the next best was (see `sampling.Drawn`)."""

    token: int
    source: str
    gap: float | None


class Start(NamedTuple):
    """Why the target began when it did: the expected tokens and tokens a second of verifying at once.

    gain: how many tokens more another draft step was expected to bring, and seconds: what that would have cost, the
    step and the longer verification; None where there was none to make.
    """

    expected: float
    rate: float
    gain: float | None
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Verified:
    """One target forward and what came of it.

    sync: when its tokens were known, on the clock of the spans. checked: the nodes that it read, and the target's own
    token after them. drafted: what the draft wrote meanwhile. outcome: `hit`, `miss`, `rejection` or `none`; accepted
    of `tested` positions; sequence: which of the drafted sequences the text goes on with, from 1. stop: why the text
    ends here (`eos`, `length`, `context`), None where it goes on.
    """

    target: Span
    sync: float
    checked: Sequence[Node]
    drafted: Sequence[Node]
    committed: Sequence[Committed]
    outcome: str = "none"
    tested: int = 0
    accepted: int = 0
    sequence: int | None = None
    stop: str | None = None

    @property
    def accepted_pending(self) -> int:
        """How many of the tokens checked were accepted."""
        return sum(node.status == "accepted" for node in self.checked)


@dataclass(frozen=True, kw_only=True)
class Drafting:
    """What a method says of its own work in an iteration.

    draft: the draft's steps. budget: γ, theta: θ, sequences: k; longest: tokens of the longest sequence drafted
    meanwhile. matched: the text's last tokens, as many as stood elsewhere with what followed them there. rest, start:
    of a tree that lives on.
    """

    mode: str | None = None
    draft: Sequence[Span] = ()
    budget: int | None = None
    longest: int | None = None
    theta: float | None = None
    sequences: int | None = None
    candidates: Sequence[Candidate] = ()
    matched: Sequence[int] = ()
    rest: Sequence[Node] = ()
    start: Start | None = None


@dataclass(frozen=True, kw_only=True)
class Iteration(Verified, Drafting):
    """One iteration, complete."""


class Room(NamedTuple):
    """How long a text may become, in tokens, and why it ends there (`length` or `context`)."""

    limit: int
    reason: str

    def cut(self, length: int, tokens: list[Committed], eos: frozenset[int]) -> tuple[list[Committed], str | None]:
        """The tokens that still belong to a text of this length, and the reason to stop or None."""
        for count, committed in enumerate(tokens, 1):
            if committed.token in eos:
                return tokens[:count], "eos"
            if length + count >= self.limit:
                return tokens[:count], self.reason
        return tokens, None


def room_for(prompt_tokens: int, max_new_tokens: int, context_limit: int) -> Room:
    """The room of a text that begins with so many tokens."""
    by_length = prompt_tokens + max_new_tokens
    return Room(by_length, "length") if by_length <= context_limit else Room(context_limit, "context")
