"""The draft budget γ and the length of sequences, from measured costs and acceptance."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from duoviz.decoding.costs import ROW_COUNTS, CostModel, step_times
from duoviz.decoding.drafting import DraftPlan
from duoviz.decoding.settings import MAX_BUDGET, Settings
from duoviz.decoding.theory import Acceptance, in_turn_speed, parallel_speed

# Of the most expected tokens a second, the share that a shorter sequence may cost.
SHORTER = 0.03
# What follows from the costs is computed every ROUNDS rounds: it hardly changes, and computing it takes time.
ROUNDS = 4


def prior() -> Acceptance:
    """DuoDecoding's acceptance before anything was tested: five of eight, for both α and β."""
    return Acceptance(pending_accepted=5, pending_tested=8, hits=5, tries=8)


def draft_budget(costs: CostModel, *, rows: int, context: int) -> int:
    """γ: how many single-sequence draft steps fit into one target forward of `rows` rows (§3.2), less one.

    One less, because steps vary and the last would often end after the target. But two where two fit: a sequence of one
    token gains nothing, because the target writes that token itself meanwhile.
    """
    fits = int(costs.target_time(rows, context) / costs.draft_time(1, context))
    return max(1, min(MAX_BUDGET, fits - (fits > 2)))


def steps_in(seconds: float, times: Sequence[float]) -> tuple[int, ...]:
    """How many batched steps fill `seconds`, by the number of sequences; the first two serve one sequence only."""
    left = seconds - 2 * times[0]
    # The tolerance keeps a whole number of steps whole when the division is a hair below it.
    return tuple(1 if left < 0 else 2 + int(left / time + 1e-6) for time in times)


def seconds_with(costs: CostModel, rows: int | np.ndarray, *, context: int) -> Any:
    """Seconds of an iteration that verifies so many rows, without its drafting."""
    return costs.target_time(rows, context) + costs.overhead


def speculative_budget(costs: CostModel, acceptance: float, *, context: int) -> int:
    """γ of SpS: the one with the most expected tokens per second (`theory.in_turn_speed`); 0: drafting does not pay."""
    budgets = np.arange(MAX_BUDGET + 1)
    target, draft = partial(seconds_with, costs, context=context), costs.draft_time(1, context)
    return int(budgets[np.argmax(in_turn_speed(acceptance, budgets, target=target, draft=draft))])


def worthwhile_length(
    costs: CostModel, acceptance: Acceptance, *, context: int, longest: int = ROW_COUNTS[-1]
) -> tuple[int, float]:
    """L, the length up to which an average sequence pays, and the expected tokens per second.

    A sequence's tokens beyond the first are rows of the next target forward, which cost time on a CPU (the paper, on a
    GPU, has no such bound). The shortest L within SHORTER of the best speed (`theory.parallel_speed`); at least 2,
    unless `longest` is 1: with first tokens only, θ has no second step and α is never learnt.
    """
    lengths = np.arange(min(2, longest), min(longest, ROW_COUNTS[-1]) + 1)
    alpha, beta = acceptance.alpha or 0.0, acceptance.beta or 0.0
    speeds = parallel_speed(alpha, beta, lengths, target=partial(seconds_with, costs, context=context))
    best = float(np.max(speeds))
    return int(lengths[np.argmax(speeds >= (1 - SHORTER) * best)]), best


def plan_draft(
    costs: CostModel,
    settings: Settings,
    *,
    length: int,
    rows: int,
    context: int,
    longest: int,
    number: int,
    ends: frozenset[int] = frozenset(),
) -> DraftPlan:
    """What to draft in round `number` while the target works on `rows` rows; a budget set by the user is used up.

    length: L of `worthwhile_length`; longest: how many tokens the text's limit allows.
    """
    if settings.budget == "auto":
        budget = settings.near(draft_budget(costs, rows=rows, context=context))
        # The authors' mode drafts as long as there is time.
        longest = min(longest, budget if settings.draft_mode == "paper" else settings.near(length))
    else:
        budget = settings.budget
    times = step_times(costs, context)
    steps = steps_in(budget * times[0], times)
    fresh = number if settings.by_rejection else None
    longest = min(longest, budget)
    return DraftPlan(
        budget, steps, settings.sequences, settings.draft_mode, longest, settings.sampling, fresh, ends=ends
    )
