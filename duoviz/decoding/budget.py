"""The cost model and the hardware-aware draft budget γ."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from duoviz.decoding.draft_worker import Draft, MeasureRequest
from duoviz.decoding.drafting import Plan
from duoviz.decoding.iteration import Iteration, Span, timed_forward
from duoviz.decoding.settings import MAX_BUDGET, MAX_SEQUENCES, Settings
from duoviz.models.cores import machine_name
from duoviz.models.embedded import cache_folder, remember
from duoviz.models.language_model import LanguageModel
from duoviz.models.linear import ROW_COUNTS
from duoviz.models.pairs import Pair

CONTEXTS = (64, 512)

# Seconds: no forward of any model takes less, nor more on a machine of any use.
SHORTEST, LONGEST = 1e-6, 600.0


@dataclass(frozen=True)
class CostModel:
    """Seconds of one forward, measured with both sides busy.

    target: [context][rows], at CONTEXTS and ROW_COUNTS; draft: [context][k - 1], k = 1..8.
    """

    target: tuple[tuple[float, ...], ...]
    draft: tuple[tuple[float, ...], ...]

    def target_time(self, rows: int | np.ndarray, context: int) -> float | np.ndarray:
        """T_target(rows), interpolated over rows and over the context's length; for one row count or an array."""
        return between_contexts([np.interp(rows, ROW_COUNTS, times) for times in self.target], context)

    def draft_time(self, k: int, context: int) -> float:
        """T_draft(k): one step of k sequences."""
        return between_contexts([times[k - 1] for times in self.draft], context)


def between_contexts(times: list[float] | list[np.ndarray], context: int) -> float | np.ndarray:
    """Linear in the context's length, also beyond the longer one measured; never below the shorter one's."""
    short, long = CONTEXTS
    return np.maximum(times[0], times[0] + (times[1] - times[0]) * (context - short) / (long - short))


class LiveCosts:
    """A cost model that follows the run: one factor a side, so that γ does not jump with m."""

    def __init__(self, model: CostModel, *, weight: float = 0.1):
        self.model, self.weight = model, weight
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
        return (1 - self.weight) * factor + self.weight * min(4.0, max(0.25, ratio))


class LiveAcceptance:
    """How often drafted tokens are accepted in this run, with ten imagined ones to begin with, half accepted.

    alpha: of the pending tokens tested; beta: how often the target's token is among the first tokens.
    """

    def __init__(self):
        self.tested, self.accepted, self.tries, self.hits = 10, 5, 10, 5

    @property
    def alpha(self) -> float:
        return self.accepted / self.tested

    @property
    def beta(self) -> float:
        return self.hits / self.tries

    def observe(self, iteration: Iteration) -> None:
        pending = iteration.accepted_pending
        self.accepted += pending
        self.tested += pending + (iteration.outcome == "rejection")
        self.tries += iteration.outcome in ("hit", "miss")
        self.hits += iteration.outcome == "hit"


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

    With acceptance α per tested position, an iteration commits (1 − α^(γ+1)) / (1 − α) tokens and
    takes γ·T_draft + T_target(γ + 1).
    """

    def speed(budget: int) -> float:
        tokens = sum(acceptance**n for n in range(budget + 1))
        return tokens / (budget * costs.draft_time(1, context) + costs.target_time(budget + 1, context))

    return max(range(1, MAX_BUDGET + 1), key=speed)


def worthwhile_length(costs: LiveCosts, acceptance: LiveAcceptance, *, context: int) -> int:
    """L: how long a sequence may be and still pay: its tokens beyond the first are rows of the next target forward.

    The L with the most expected tokens a second, 2 at least: where only first tokens are drafted, θ has
    no second step and α is never learnt. For each iteration without pending tokens there are
    π = β / (1 − β·α^(L−1)) with L − 1 of them, which commit (1 − α^L) / (1 − α) tokens. The paper has
    no such bound: on a GPU more rows cost nothing, on a processor they do.
    """
    alpha, beta = acceptance.alpha, acceptance.beta
    lengths = np.arange(2, ROW_COUNTS[-1] + 1)
    odds = beta / (1 - beta * alpha ** (lengths - 1))
    committed = 1 + np.cumsum(alpha ** (lengths - 1))
    seconds = costs.target_time(1, context) + odds * costs.target_time(lengths, context)
    return int(lengths[np.argmax((1 + odds * committed) / seconds)])


def plan_draft(
    costs: LiveCosts,
    acceptance: LiveAcceptance,
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
    if settings.budget == "auto":
        budget = settings.near(draft_budget(costs, rows=rows, context=context))
        longest = min(longest, settings.near(worthwhile_length(costs, acceptance, context=context)))
    else:
        budget = settings.budget
    seconds = budget * costs.draft_time(1, context)
    steps = tuple(steps_in(seconds, costs, k, context) for k in range(1, MAX_SEQUENCES + 1))
    fresh = number if settings.by_rejection else None
    longest = min(longest, budget)
    return Plan(budget, steps, settings.sequences, settings.draft_mode, longest, settings.sampling, fresh)


def calibrate(pair: Pair, draft: Draft, *, seconds: float = 1.5) -> CostModel:
    """Measure the cost model: both sides work at the same time, each on its own cores, for `seconds`
    a context or longer on a slow target.

    Call it on the target's cores.
    """
    target, steps = [], []
    for context in CONTEXTS:
        alone = sum(measure_target(pair.target, context=context, until=lambda: True))
        draft.submit(MeasureRequest(context, max(seconds, 8 * alone)))
        target.append(measure_target(pair.target, context=context, until=draft.ready))
        steps.append(by_sequences(draft.result()))
    return CostModel(tuple(target), tuple(steps))


def calibrate_in_turn(pair: Pair, draft: Draft, *, seconds: float = 1.0) -> CostModel:
    """Measure the cost model of two models that take turns on the same cores; `seconds` for each side and context."""
    target, steps = [], []
    for context in CONTEXTS:
        end = time.perf_counter() + seconds
        target.append(measure_target(pair.target, context=context, until=lambda end=end: time.perf_counter() > end))
        steps.append(draft_times(draft, context, seconds))
    return CostModel(tuple(target), tuple(steps))


def draft_times(draft: Draft, context: int, seconds: float) -> tuple[float, ...]:
    """T_draft(k) for k = 1..8 at a context, measured for `seconds`."""
    draft.submit(MeasureRequest(context, seconds))
    return by_sequences(draft.result())


def by_sequences(times: dict[int, float]) -> tuple[float, ...]:
    return tuple(times[k] for k in range(1, MAX_SEQUENCES + 1))


def measure_target(model: LanguageModel, *, context: int, until: Callable[[], bool]) -> tuple[float, ...]:
    """Median seconds of one forward for each row count; three or more of each, the first left out.

    A model with a shorter context is measured at the end of it.
    """
    context = min(context, model.context_limit - ROW_COUNTS[-1])
    model.crop(0)
    model.forward([0] * context, rows=[0])
    times: dict[int, list[float]] = {rows: [] for rows in ROW_COUNTS}
    while len(times[1]) < 3 or not until():
        for rows, taken in times.items():
            _, span = timed_forward(model, [0] * rows)
            taken.append(span.end - span.start)
            model.crop(context)
    model.crop(0)
    return tuple(sorted(taken[1:])[len(taken[1:]) // 2] for taken in times.values())


def cost_model(pair: Pair, draft: Draft, *, in_turn: bool = False, fresh: bool = False) -> CostModel:
    """The pair's cost model on this machine: kept with the pair, else from the cache folder, else measured.

    in_turn: both sides use the cores in force one after the other; else each has its own share.
    """
    threads = torch.get_num_threads()
    name = f"costs in turn, {threads} threads" if in_turn else "costs"
    if name in pair.resources and not fresh:
        return pair.resources[name]
    device = pair.target_device_label(pair.cores.all if in_turn else pair.cores.target)
    machine = f"{device} {pair.cores} {machine_name()} {torch.__version__}"
    key = f"{name} {machine} {pair.name} {pair.target.label} {pair.draft_version}"
    file = cache_folder() / f"costs-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    costs = None if fresh else stored_costs(file)
    if costs is None:
        costs = calibrate_in_turn(pair, draft) if in_turn else calibrate(pair, draft)
        remember(file, {"for": key, **asdict(costs)})
    pair.resources[name] = costs
    return costs


def stored_costs(file: Path) -> CostModel | None:
    """The cost model in a cache file, or None where it is missing, damaged or cannot be true."""
    try:
        stored = json.loads(file.read_text())
        target, draft = (tuple(tuple(map(float, row)) for row in stored[side]) for side in ("target", "draft"))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    shapes = ([len(row) for row in target], [len(row) for row in draft])
    right = shapes == ([len(ROW_COUNTS)] * len(CONTEXTS), [MAX_SEQUENCES] * len(CONTEXTS))
    # No NaN passes a comparison.
    possible = all(SHORTEST <= seconds <= LONGEST for row in (*target, *draft) for seconds in row)
    return CostModel(target, draft) if right and possible else None
