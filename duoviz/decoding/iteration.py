"""What one iteration proposed, checked and committed, with raw timestamps."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.language_model import LanguageModel

# Small enough that a run can be stopped within a second while it reads a long prompt.
PREFILL_CHUNK = 128


class Span(NamedTuple):
    """One forward: start and end in seconds of the system's monotonic clock, and its tokens."""

    start: float
    end: float
    tokens: int


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


@dataclass
class Iteration:
    """One target forward and what was drafted at the same time.

    longest: how many tokens the longest sequence drafted meanwhile has.
    matched: the text's last tokens, as many as were found elsewhere with what followed them there.
    rest, start: of a tree that lives on (see the trace schema).
    """

    target: Span
    sync: float
    committed: list[Committed]
    mode: str | None = None
    draft: list[Span] = field(default_factory=list)
    budget: int | None = None
    longest: int | None = None
    factors: tuple[float, float] | None = None
    theta: float | None = None
    sequences: int | None = None
    candidates: list[Candidate] = field(default_factory=list)
    matched: Sequence[int] = ()
    checked: list[Node] = field(default_factory=list)
    drafted: list[Node] = field(default_factory=list)
    rest: list[Node] = field(default_factory=list)
    start: Start | None = None
    outcome: str = "none"
    tested: int = 0
    accepted: int = 0
    sequence: int | None = None
    stop: str | None = None

    @property
    def accepted_pending(self) -> int:
        """How many of the tokens checked were accepted."""
        return sum(node.status == "accepted" for node in self.checked)


def timed_forward(model: LanguageModel, ids: Sequence[int], **options) -> tuple[Tensor, Span]:
    """`model.forward` and its span, measured after the device is done."""
    start = time.perf_counter()
    logits = model.forward(ids, **options)
    if model.device.startswith("cuda"):
        torch.cuda.synchronize(model.device)
    return logits, Span(start, time.perf_counter(), len(ids))


class Stopped(Exception):
    """The run was to end while a long forward was under way."""


def timed_prefill(
    model: LanguageModel, ids: Sequence[int], *, stopped: Callable[[], bool] = bool
) -> tuple[Tensor, Span]:
    """Forward many tokens in chunks; logits [1, vocab] of the last, and one span over all.

    Raises Stopped where `stopped` says so between two chunks.
    """
    start = time.perf_counter()
    for begin in range(0, len(ids), PREFILL_CHUNK):
        if stopped():
            raise Stopped
        chunk = ids[begin : begin + PREFILL_CHUNK]
        logits, span = timed_forward(model, chunk, rows=[len(chunk) - 1])
    return logits, Span(start, span.end, len(ids))


class Room(NamedTuple):
    """How long a text may become, and why it ends there (`length` or `context`)."""

    limit: int
    reason: str

    def cut(self, text_length: int, tokens: list[Committed], eos: frozenset[int]) -> tuple[list[Committed], str | None]:
        """The tokens that still belong to the text, and the reason to stop or None."""
        for index, each in enumerate(tokens, 1):
            if each.token in eos:
                return tokens[:index], "eos"
            if text_length + index >= self.limit:
                return tokens[:index], self.reason
        return tokens, None


def room_for(prompt_tokens: int, max_new_tokens: int, context_limit: int) -> Room:
    """The room of a text that begins with so many tokens."""
    by_length, by_context = prompt_tokens + max_new_tokens, context_limit
    return Room(by_length, "length") if by_length <= by_context else Room(by_context, "context")
