"""The cost model and the hardware-aware draft budget γ."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from duoviz.decoding.chances import Chances, Trust
from duoviz.decoding.drafting import Plan, Worth
from duoviz.decoding.iteration import Node, Span
from duoviz.decoding.settings import MAX_BUDGET, MAX_SEQUENCES, Settings
from duoviz.decoding.theory import Acceptance, in_turn_speed, parallel_speed

# At these numbers of rows and tokens before them a cost model has times.
ROW_COUNTS, CONTEXTS = (1, 2, 4, 8, 16, 32), (64, 512)
# How fast a run's costs follow what its forwards take.
WEIGHT = 0.1


@dataclass(frozen=True)
class CostModel:
    """Seconds of one forward, measured with both sides busy.

    target: [context][rows], at CONTEXTS and ROW_COUNTS; draft: [context][k - 1], k = 1..8.
    """

    target: tuple[tuple[float, ...], ...]
    draft: tuple[tuple[float, ...], ...]

    def target_time(self, rows: int | np.ndarray, context: int) -> float | np.ndarray:
        """T_target(rows), interpolated over rows and over the context's length; for one row count or an array.

        Beyond the rows that were measured it goes on as between the last two.
        """
        return between_contexts([between_rows(rows, times) for times in self.target], context)

    def draft_time(self, k: int, context: int) -> float:
        """T_draft(k): one step of k sequences."""
        return between_contexts([times[k - 1] for times in self.draft], context)


def between_rows(rows: int | np.ndarray, times: Sequence[float]) -> float | np.ndarray:
    """Linear in the rows, also beyond the most that were measured; never below the time of those."""
    before, last = ROW_COUNTS[-2:]
    slope = max(0.0, times[-1] - times[-2]) / (last - before)
    return np.interp(rows, ROW_COUNTS, times) + np.maximum(0, rows - last) * slope


def between_contexts(times: list[float] | list[np.ndarray], context: int) -> float | np.ndarray:
    """Linear in the context's length, also beyond the longer one measured; never below the shorter one's."""
    short, long = CONTEXTS
    return np.maximum(times[0], times[0] + (times[1] - times[0]) * (context - short) / (long - short))


def step_times(costs: "CostModel | LiveCosts", context: int) -> list[float]:
    """T_draft(1), T_draft(2), … T_draft(8)."""
    return [costs.draft_time(k, context) for k in range(1, MAX_SEQUENCES + 1)]


class LiveCosts:
    """A cost model that follows the run: one factor a side, so that γ does not jump with m."""

    def __init__(self, model: CostModel):
        self.model = model
        self.target_factor = self.draft_factor = 1.0

    def target_time(self, rows: int | np.ndarray, context: int) -> float | np.ndarray:
        return self.model.target_time(rows, context) * self.target_factor

    def draft_time(self, k: int, context: int) -> float:
        return self.model.draft_time(k, context) * self.draft_factor

    def observe(self, target: Span, draft: list[Span], context: int) -> None:
        """Move both factors towards what an iteration took; forwards of many tokens (a prefill) say nothing."""
        if target.tokens <= ROW_COUNTS[-1]:
            ratio = (target.end - target.start) / self.model.target_time(target.tokens, context)
            self.target_factor = self.follow(self.target_factor, ratio)
        steps = [span for span in draft if span.tokens <= MAX_SEQUENCES]
        if steps:
            taken = sum(span.end - span.start for span in steps)
            expected = sum(self.model.draft_time(span.tokens, context) for span in steps)
            self.draft_factor = self.follow(self.draft_factor, taken / expected)

    @property
    def factors(self) -> tuple[float, float]:
        """Measured over calibrated time of the target's forwards and of the draft's steps."""
        return self.target_factor, self.draft_factor

    def follow(self, factor: float, ratio: float) -> float:
        return factor + WEIGHT * (min(4.0, max(0.25, ratio)) - factor)


def prior() -> Acceptance:
    """What DuoDecoding assumes before anything was tested: ten imagined tokens of either kind, half accepted."""
    return Acceptance(pending_accepted=5, pending_tested=10, hits=5, tries=10)


def draft_budget(costs: LiveCosts, *, rows: int, context: int) -> int:
    """γ: how many single-sequence draft steps fit into one target forward of `rows` rows (§3.2)."""
    fits = costs.target_time(rows, context) / costs.draft_time(1, context)
    return max(1, min(MAX_BUDGET, int(fits)))


def steps_in(seconds: float, costs: LiveCosts, k: int, context: int) -> int:
    """How many batched steps of k sequences fill `seconds`; the first two serve one sequence only."""
    single = costs.draft_time(1, context)
    if seconds < 2 * single:
        return 1
    # The tolerance keeps a whole number of steps whole when the division is a hair below it.
    return 2 + int((seconds - 2 * single) / costs.draft_time(k, context) + 1e-6)


def speculative_budget(costs: LiveCosts, acceptance: float, *, context: int) -> int:
    """γ of SpS: the one with the most expected tokens a second when draft and target take turns.

    acceptance: of the positions tested; see `theory.in_turn_speed`.
    """
    budgets = np.arange(1, MAX_BUDGET + 1)
    target, draft = partial(costs.target_time, context=context), costs.draft_time(1, context)
    return int(budgets[np.argmax(in_turn_speed(acceptance, budgets, target=target, draft=draft))])


def worthwhile_length(costs: LiveCosts, acceptance: Acceptance, *, context: int) -> int:
    """L: how long an average sequence may be and still pay: its tokens beyond the first are rows of the next target
    forward.

    The L with the most expected tokens a second, 2 at least: where only first tokens are drafted, θ has
    no second step and α is never learnt (see `theory.parallel_speed`). The paper has no such bound: on a GPU more
    rows cost nothing, on a processor they do.
    """
    lengths = np.arange(2, ROW_COUNTS[-1] + 1)
    target = partial(costs.target_time, context=context)
    return int(lengths[np.argmax(parallel_speed(acceptance.alpha, acceptance.beta, lengths, target=target))])


class Sureness:
    """How long the draft's sequences may be, by the chances of their own tokens, followed in the run.

    chances: None where no table was fitted to the draft; all sequences are of one length then.
    """

    def __init__(self, chances: Chances | None, settings: Settings):
        self.chances, self.temperature, self.trust = chances, settings.temperature, Trust()

    def observe(self, chain: Sequence[Node]) -> None:
        """Verified tokens; the first one that was refused is the last that says anything."""
        for node in chain if self.chances else ():
            if node.status in ("accepted", "rejected"):
                chance = self.chances.of_drafted(0, node.q, temperature=self.temperature)
                self.trust.observe(node.source, chance, node.status == "accepted")

    def bounds(self, length: int, alpha: float, *, first: bool) -> tuple[int, Worth | None]:
        """The longest that a sequence may be, and where it ends before, for an average one of L tokens that pays.

        At the average chance α that one is worth α^(L−1), or α^L where its first token counts (see `Worth`): a
        surer one may be longer, a less sure one ends before.
        """
        if not self.chances:
            return length, None
        least = alpha ** (length if first else length - 1)
        return max(length, ROW_COUNTS[-1] - 1), Worth(self.chances, self.trust.factor("draft"), least, first)


def plan_draft(
    costs: LiveCosts,
    acceptance: Acceptance,
    sureness: Sureness,
    settings: Settings,
    *,
    rows: int,
    context: int,
    longest: int,
    number: int,
) -> Plan:
    """What to draft in round `number` while the target works on `rows` rows; `longest`: what the text has room for.

    A budget that is set is used up, whether it pays or not.
    """
    worth = None
    if settings.budget == "auto":
        budget = settings.near(draft_budget(costs, rows=rows, context=context))
        length = settings.near(worthwhile_length(costs, acceptance, context=context))
        # The authors' mode drafts sequences of equal lengths, whatever their tokens' chances.
        if settings.draft_mode == "batched":
            length, worth = sureness.bounds(length, acceptance.alpha, first=False)
        longest = min(longest, length)
    else:
        budget = settings.budget
    seconds = budget * costs.draft_time(1, context)
    steps = tuple(steps_in(seconds, costs, k, context) for k in range(1, MAX_SEQUENCES + 1))
    fresh = number if settings.by_rejection else None
    longest = min(longest, budget)
    return Plan(budget, steps, settings.sequences, settings.draft_mode, longest, settings.sampling, fresh, worth)
