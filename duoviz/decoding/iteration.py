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
    """A token that was proposed or written; see the trace schema for the fields and the statuses.

    parent: its index in the tree, -1: the text's end. margin: of a token of the text (see `sampling.Drawn`).
    """

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
    margin: float | None = None


class Start(NamedTuple):
    """Why the target began when it did: the expected tokens, and tokens per second, of verifying at once.

    gain, seconds: expected extra tokens and extra time of one more draft step; None where none was possible.
    """

    expected: float
    rate: float
    gain: float | None
    seconds: float | None


@dataclass(kw_only=True)
class Iteration:
    """One iteration: a target forward, its result, and what the method says of it (`Drafter.observe`).

    sync: when its tokens were known, on the spans' clock. checked: the nodes that it read, then the target's own
    token. drafted: what the draft wrote meanwhile. committed: the new tokens of the text. outcome: `hit`, `miss`,
    `rejection` or `none`; accepted of `tested` positions. sequence: number (from 1) of the drafted sequence that goes
    on. stop: why the text ends (`eos`, `length`, `context`), else None.

    Of the method: draft: the draft's steps. budget: γ, theta: θ, sequences: k; longest: length of the longest sequence
    drafted meanwhile. matched: the text's last tokens that were found elsewhere. DuoTree: unverified: the tree's other
    nodes; start: why it stopped drafting.
    """

    target: Span
    sync: float
    checked: Sequence[Node]
    drafted: Sequence[Node]
    committed: Sequence[Node]
    outcome: str = "none"
    tested: int = 0
    accepted: int = 0
    sequence: int | None = None
    stop: str | None = None
    mode: str | None = None
    draft: Sequence[Span] = ()
    budget: int | None = None
    longest: int | None = None
    theta: float | None = None
    sequences: int | None = None
    candidates: Sequence[Candidate] = ()
    matched: Sequence[int] = ()
    unverified: Sequence[Node] = ()
    start: Start | None = None

    @property
    def accepted_pending(self) -> int:
        """How many of the tokens checked were accepted."""
        return sum(node.status == "accepted" for node in self.checked)


class LengthLimit(NamedTuple):
    """How long a text may become, in tokens, and why it ends there (`length` or `context`)."""

    limit: int
    reason: str

    def cut(self, length: int, tokens: list[Node], eos: frozenset[int]) -> tuple[list[Node], str | None]:
        """The tokens that still fit after a text of `length` tokens, and why it stops there, or None."""
        for count, node in enumerate(tokens, 1):
            if node.token in eos:
                return tokens[:count], "eos"
            if length + count >= self.limit:
                return tokens[:count], self.reason
        return tokens, None


def length_limit(prompt_tokens: int, max_new_tokens: int, context_limit: int) -> LengthLimit:
    by_length = prompt_tokens + max_new_tokens
    return LengthLimit(by_length, "length") if by_length <= context_limit else LengthLimit(context_limit, "context")
