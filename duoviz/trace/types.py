"""A run's events, and the trace that they make, as types for editors and type checkers; see the trace schema."""

from typing import Any, Literal, NotRequired, TypedDict


class TargetSpan(TypedDict):
    start: float
    end: float
    rows: int


class DraftStep(TypedDict):
    start: float
    end: float
    tokens: int


class Candidate(TypedDict):
    id: int
    text: str
    p: float
    over: bool


class Matched(TypedDict):
    tokens: int
    text: str


class Node(TypedDict):
    id: int
    text: str
    parent: int
    source: str
    q: float | None
    count: int | None
    p: float | None
    status: Literal["pending", "accepted", "rejected", "discarded", "correction", "window"]
    chance: NotRequired[float | None]
    step: NotRequired[int | None]
    was: NotRequired[int | None]


class Verdict(TypedDict):
    outcome: Literal["hit", "miss", "rejection", "none"]
    tested: int
    accepted: int
    sequence: int | None


class Committed(TypedDict):
    id: int
    text: str
    source: str
    gap: float | None


class Start(TypedDict):
    expected: float
    rate: float
    gain: float | None
    seconds: float | None


class Iteration(TypedDict):
    index: int
    mode: Literal["prefill", "pre", "post", "alone"] | None
    target: TargetSpan
    draft: list[DraftStep]
    sync: float
    budget: int | None
    longest: NotRequired[int | None]
    factors: NotRequired[list[float] | None]
    theta: float | None
    sequences: int | None
    candidates: list[Candidate]
    matched: NotRequired[Matched | None]
    checked: list[Node]
    drafted: list[Node]
    verdict: Verdict
    committed: list[Committed]
    rest: NotRequired[list[Node]]
    start: NotRequired[Start]


class Model(TypedDict):
    name: str
    device: str
    precision: NotRequired[str]
    cpu: NotRequired[bool]


class Header(TypedDict):
    schema: int
    method: str
    about: NotRequired[dict[str, Any]]
    clock: NotRequired[Literal["seconds", "iterations"]]
    target: Model
    draft: Model | None
    can_overlap: bool
    settings: dict[str, Any]
    prompt: str
    prompt_tokens: int
    pair: NotRequired[str]
    calibration: NotRequired[dict[str, Any] | None]
    one_token: NotRequired[float]
    versions: NotRequired[dict[str, str]]
    date: NotRequired[str]
    before: NotRequired[list[tuple[str, str]]]


class End(TypedDict):
    stopped: str
    wall: NotRequired[float]
    text: NotRequired[str]
    message: NotRequired[str]


class HeaderEvent(TypedDict):
    type: Literal["header"]
    header: Header


class IterationEvent(TypedDict):
    type: Literal["iteration"]
    iteration: Iteration


class EndEvent(TypedDict):
    type: Literal["end"]
    end: End


Event = HeaderEvent | IterationEvent | EndEvent


class Trace(TypedDict):
    header: Header
    iterations: list[Iteration]
    end: End | None


# Keys are as `trace.metrics` gives them, one of which is a word of Python.
Metrics = TypedDict(
    "Metrics",
    {
        "tps": float | None,
        "ttft": float | None,
        "tau": float | None,
        "acceptance": float | None,
        "yield": float | None,
        "overlap": float | None,
        "idle_target": float | None,
        "idle_draft": float | None,
        "lost_miss": float | None,
        "lost_rejection": float | None,
        "lost_waiting": float | None,
        "new_tokens": int,
        "target_forwards": int,
        "wall": float | None,
        "verifications": int,
        "drafted": int,
        "accepted": int,
        "mean_acceptance_length": float | None,
        "acceptance_rate": float | None,
        "acceptance_by_position": list[float],
    },
)
