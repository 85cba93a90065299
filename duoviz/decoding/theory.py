"""The theory of speculative decoding: acceptance as counted, expected tokens and speeds.

α: chance that a drafted token is accepted after an accepted one; β: that the target's token is among the sequences'
first tokens; γ: draft budget; L: a sequence's length. Acceptances are taken to be independent. Numbers may be arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import log

import numpy as np

Number = float | np.ndarray


@dataclass
class Acceptance:
    """Counts of acceptance, which can be added.

    accepted of tested: positions at which a drafted token met the target's. For a parallel draft also by kind: pending
    tokens; and first tokens (hits of tries), with `taken` tokens in the `sequences_taken` kept after a hit.
    """

    accepted: int = 0
    tested: int = 0
    pending_accepted: int = 0
    pending_tested: int = 0
    hits: int = 0
    tries: int = 0
    taken: int = 0
    sequences_taken: int = 0

    def count(self, outcome: str, *, accepted: int, tested: int, pending: int, taken: int) -> None:
        """Add an iteration. pending: the pending tokens accepted; taken: the length of the sequence of a hit."""
        self.accepted += accepted
        self.tested += tested
        if outcome == "none":
            return
        self.pending_accepted += pending
        self.pending_tested += pending + (outcome == "rejection")
        self.tries += outcome != "rejection"
        if outcome == "hit":
            self.hits += 1
            self.taken += taken
            self.sequences_taken += 1

    def __add__(self, other: "Acceptance") -> "Acceptance":
        return Acceptance(*(getattr(self, count.name) + getattr(other, count.name) for count in fields(self)))

    @property
    def rate(self) -> float | None:
        """Of all positions tested; None where none was."""
        return self.accepted / self.tested if self.tested else None

    @property
    def alpha(self) -> float | None:
        """Of the pending tokens tested."""
        return self.pending_accepted / self.pending_tested if self.pending_tested else None

    @property
    def beta(self) -> float | None:
        """Hits of all tries."""
        return self.hits / self.tries if self.tries else None

    @property
    def length(self) -> float | None:
        """L: of the sequences taken, on average."""
        return self.taken / self.sequences_taken if self.sequences_taken else None


def acceptance_of(iterations: list[dict]) -> Acceptance:
    """The acceptance of a trace's iterations."""
    acceptance = Acceptance()
    for iteration in iterations:
        verdict = iteration["verdict"]
        # What a method that takes turns checks was never pending.
        outcome = verdict["outcome"] if iteration["drafted"] else "none"
        pending = sum(node["status"] == "accepted" for node in iteration["checked"])
        taken = 1 + sum(node["status"] == "pending" for node in iteration["drafted"])
        acceptance.count(outcome, accepted=verdict["accepted"], tested=verdict["tested"], pending=pending, taken=taken)
    return acceptance


def run_of(alpha: Number, drafted: int | np.ndarray) -> Number:
    """Expected tokens of a chain of so many drafted ones, with the target's own: 1 + α + … + α^drafted."""
    drafted = np.asarray(drafted)
    powers = np.cumsum(np.asarray(alpha)[..., None] ** np.arange(drafted.max(initial=0) + 1), axis=-1)
    return np.take(powers, drafted, axis=-1)[()]


def pending_odds(alpha: Number, beta: Number, length: Number) -> Number:
    """π: iterations with pending tokens per one without, β / (1 − β·α^(L−1)); at most a million."""
    kept = beta * alpha ** (length - 1)
    return beta / np.maximum(1 - kept, 1e-6)


def parallel_tokens(alpha: Number, beta: Number, length: Number) -> Number:
    """τ of DuoDecoding: (1 + π·(1 − α^L)/(1 − α)) / (1 + π). L may be a mean."""
    odds = pending_odds(alpha, beta, length)
    run = length if alpha == 1 else (1 - alpha**length) / (1 - alpha)
    return (1 + odds * run) / (1 + odds)


def parallel_tokens_at(acceptance: Acceptance, rate: float) -> float:
    """τ of DuoDecoding were its draft right at another `rate` than in a run whose `acceptance` was counted.

    α and β change as powers of theirs, so that all are 0 or 1 together.
    """
    if not rate:
        return 1.0
    power = log(rate) / log(acceptance.rate or 0.5) if rate < 1 else 0.0
    alpha, beta = (acceptance.alpha or 0.0) ** power, (acceptance.beta or 0.0) ** power
    return float(parallel_tokens(alpha, beta, acceptance.length or 1.0))


def in_turn_speed(alpha: float, budget: int | np.ndarray, *, target: Callable, draft: Number) -> Number:
    """Tokens per second of SpS. target: seconds of a forward by its rows; draft: seconds of a draft step."""
    return run_of(alpha, budget) / (budget * draft + target(budget + 1))


def parallel_speed(
    alpha: float, beta: float, length: int | np.ndarray, *, target: Callable, drafting: Number = 0.0
) -> Number:
    """Tokens per second of DuoDecoding with sequences of L tokens; an iteration takes as long as its longer side.

    drafting: the draft's seconds in an iteration; 0 where the target never waits for it.
    """
    odds = pending_odds(alpha, beta, length)
    seconds = np.maximum(target(1), drafting) + odds * np.maximum(target(length), drafting)
    return (1 + odds * run_of(alpha, length - 1)) / seconds


# A method's τ in theory, from the acceptance and each iteration's number of drafted tokens; None where too little was
# tested.
Expectation = Callable[[Acceptance, list[int]], float | None]


def alone(acceptance: Acceptance, drafted: list[int]) -> float:
    return 1.0


def in_turn(acceptance: Acceptance, drafted: list[int]) -> float | None:
    rate = acceptance.rate
    return None if rate is None else float(np.mean(run_of(rate, np.array(drafted))))


def in_parallel(acceptance: Acceptance, drafted: list[int]) -> float | None:
    alpha, beta, length = acceptance.alpha, acceptance.beta, acceptance.length
    return None if alpha is None or beta is None or length is None else float(parallel_tokens(alpha, beta, length))
