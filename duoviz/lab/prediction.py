"""What the cost model predicts: the speed of each lane that was measured, and when drafting pays at all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from duoviz.decoding import METHODS
from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.costs import CONTEXTS, SHORTEST, WIDTHS, CostModel, Costs, Forward, step_times
from duoviz.decoding.duotree.simulate import CONTEXT, Places, exponential_tilt, forecast
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import in_turn_speed, parallel_speed
from duoviz.lab.answers import acceptance, after_prompt, by_lane, iterations
from duoviz.lab.machine import IN_TURN, ON_TARGET, TOGETHER, cost_models
from duoviz.lab.plan import DUO, SPS, lane_labels
from duoviz.lab.results import Results
from duoviz.lab.rows import Row, key

# Iterations that are expected together, from all before them; and of which every so many-th teaches, for it takes time.
# Both are for runs of MANY iterations at most, and grow with longer ones.
STRETCH, TEACHES, MANY = 8, 2, 100_000
# The map: T_target / T_draft and α. DuoTree is played at some of them only, each for so many iterations.
RATIOS, ALPHAS = np.geomspace(0.5, 128, 49), np.linspace(0.02, 0.98, 49)
PLAYED_RATIOS, PLAYED_ALPHAS = RATIOS[::8], ALPHAS[[0, 12, 24, 36, 42, 48]]
PLAYED = 24
CHILDREN = Settings().tree_children
# The longest run of drafted tokens that is considered.
LONGEST = 31


class Prediction(NamedTuple):
    """Of a lane's iterations after the prompts were read: tokens a second, and tokens and seconds of one iteration.

    error: how much too fast the prediction is, as a share of the measured speed. tau_predicted is None where there is
    no formula for it; then the speed is predicted with the measured one.
    """

    speed: float
    speed_predicted: float
    error: float
    tau: float
    tau_predicted: float | None
    seconds: float
    seconds_predicted: float


# Of a lane: the prediction of all its answers together, and those of each alone.
Predictions = dict[str, tuple[Prediction, list[Prediction]]]


def predictions_of(results: Results) -> Predictions:
    """By lane, where there is one, in the order of the tables."""
    seconds, found = forward_seconds(results.rows, results.environment), {}
    for lane, rows in by_lane(results.rows, lane_labels()).items():
        if together := predict(rows, seconds):
            found[lane] = together, [alone for row in rows if (alone := predict([row], seconds))]
    return found


def predict(rows: Sequence[Row], forwards: Mapping[tuple, list[np.ndarray]]) -> Prediction | None:
    """One lane's prediction at its measured acceptance; None where no turn has an iteration after its prompt, and where
    iterations took no time.

    forwards: see `forward_seconds`; the time in which no model works, which depends on the method, is the measured one.
    """
    tokens, seconds, predicted, drafted = [], [], [], []
    for row in rows:
        tokens += [count for (count,) in iterations([row], "committed", later=True)]
        for turn, expected in zip(row["measured"], forwards[key(row)], strict=True):
            places = after_prompt(turn)
            took, target, draft, guesses = (
                np.array(turn["iterations"][name])[places] for name in ("seconds", "target", "draft", "drafted")
            )
            seconds += list(took)
            predicted += list(took - join_of(row)(target, draft) + expected[places])
            drafted += list(guesses)
    if sum(seconds) < SHORTEST or sum(predicted) < SHORTEST:
        return None
    tau, mean, expected_mean = (float(sum(each)) / len(seconds) for each in (tokens, seconds, predicted))
    formula = METHODS[rows[0]["settings"]["method"]].expected
    # As if every token were accepted with the same chance.
    by_formula = formula and formula(acceptance(rows), drafted)
    speed, expected_speed = tau / mean, (tau if by_formula is None else by_formula) / expected_mean
    return Prediction(speed, expected_speed, expected_speed / speed - 1, tau, by_formula, mean, expected_mean)


def works_beside(row: Row) -> bool:
    """Whether the draft worked at the same time as the target, which a method may leave to the machine."""
    overlaps = (turn["metrics"].get("overlap") is not None for turn in row["measured"])
    return METHODS[row["settings"]["method"]].parallel or any(overlaps)


def join_of(row: Row) -> Callable:
    """What an iteration's time is of both sides' times."""
    return np.maximum if works_beside(row) else np.add


def seconds_between(rows: Iterable[Row]) -> float:
    """Of an iteration after the prompt, the seconds in which no model works, on average; 0 where there is none."""
    seconds = [
        took - join_of(row)(target, draft)
        for row in rows
        for took, target, draft in iterations([row], "seconds", "target", "draft", later=True)
    ]
    return float(np.mean(seconds)) if seconds else 0.0


def forward_seconds(rows: Sequence[Row], environment: dict) -> dict[tuple, list[np.ndarray]]:
    """By answer (see `rows.key`): of each turn's iterations, the seconds that their forwards take; 0 for the first.

    Each is expected from all forwards before it in the run, since machines change their speed; the first ones from the
    environment's costs.
    """
    course = {name: costs_like(model) for name, model in cost_models(environment).items()}
    coarser = 1 + sum(sum(row["choices"][0]["decoding_steps"]) for row in rows) // MANY
    expected = {}
    for row in sorted(rows, key=lambda row: row.get("tstamp", 0.0)):
        way = TOGETHER if works_beside(row) else ON_TARGET if row["settings"]["cores"] == "target" else IN_TURN
        costs = course.get(way, course[TOGETHER])
        expected[key(row)] = [seconds_of_turn(turn, costs, join_of(row), coarser) for turn in row["measured"]]
    return expected


def costs_like(model: CostModel) -> Costs:
    """Costs that begin with a model's times."""
    costs = Costs()
    for side, table in ((costs.target, model.target), (costs.draft, model.draft)):
        side.recall({"table": table, "count": 1, "seen": 0.0, "slowdown": 1.0})
    return costs


def seconds_of_turn(turn: Mapping, costs: Costs, join: Callable, coarser: int) -> np.ndarray:
    """The expected seconds of a turn's iterations, 0 for the first; the costs learn from them. join: of both sides;
    coarser: how many times STRETCH are expected together.
    """
    names = ("rows", "target", "draft_steps", "draft_rows", "draft")
    rows, target, steps, draft_rows, draft = (np.array(turn["iterations"][name]) for name in names)
    contexts = turn["prompt_tokens"] + np.arange(len(rows))
    expected = np.zeros(len(rows))
    stretch, teaches = coarser * STRETCH, coarser * TEACHES
    for begin in range(1, len(rows), stretch):
        part, context = slice(begin, begin + stretch), int(contexts[begin])
        # A step of several tokens: as if each had the same share of them.
        widths = draft_rows[part] / np.maximum(1, steps[part])
        drafting = steps[part] * np.interp(widths, WIDTHS, step_times(costs.model, context))
        expected[part] = join(costs.model.target_time(rows[part], context), drafting)
        for place in range(begin, min(begin + stretch, len(rows)), teaches):
            mean = round(draft_rows[place] / max(1, steps[place]))
            steps_seen = [Forward(mean, context, draft[place] / steps[place])] if steps[place] else []
            costs.observe([Forward(int(rows[place]), context, float(target[place]))], steps_seen)
    return expected


def map_costs(environment: dict) -> dict[str, tuple[CostModel, CostModel]]:
    """The costs together and in turn for maps of φ: as rows cost `here`, and where they are `free`."""
    together, in_turn = (cost_models(environment)[name] for name in (TOGETHER, IN_TURN))
    # With free rows a draft beside the target takes nothing from it, as where that is on a large GPU.
    free = with_free_rows(in_turn)
    return {"here": (together, in_turn), "free": (free, free)}


def padded(costs: CostModel) -> CostModel:
    """Costs where fewer rows take no longer than more do, for they could be padded to them: a vanilla that is slower
    than more rows would be makes any drafting pay."""
    shortest = np.minimum.accumulate(np.array(costs.target)[:, ::-1], axis=1)[:, ::-1]
    return replace(costs, target=tuple(map(tuple, shortest.tolist())))


def places_of(environment: dict) -> Places:
    """The kinds of places that the draft meets; of results from before they were kept, what is assumed of any draft."""
    kept = [(weight, tuple(chances)) for weight, *chances in environment.get("places", []) if weight]
    total = sum(weight for weight, _ in kept)
    return tuple((weight / total, chances) for weight, chances in kept) or plain().places()


def growth(costs: CostModel) -> np.ndarray:
    """T_target(n) / T_target(1) for n = 1 … LONGEST + 1; the first is below 1 where more rows took less time."""
    times = np.asarray(padded(costs).target_time(np.arange(1, LONGEST + 2), CONTEXTS[0]))
    return times / costs.target_time(1, CONTEXTS[0])


def ratio_of(costs: CostModel) -> float:
    """Draft steps per target pass: T_target(1) / T_draft(1), as measured."""
    return float(costs.target_time(1, CONTEXTS[0]) / costs.draft_time(1, CONTEXTS[0]))


def speculative_phi(alpha: float, ratio: float | np.ndarray, grown: np.ndarray, between: float = 0.0) -> np.ndarray:
    """φ of SpS with the best γ, over vanilla on the same cores; for one ratio or an array, of whose shape it is.

    alpha: the chance that a drafted token is accepted; ratio: T_target / T_draft; grown: see `growth`; between: an
    iteration's time in which no model works, as a multiple of T_target(1).
    """
    gammas, draft = np.arange(1, LONGEST + 1), 1 / np.asarray(ratio, dtype=float)[..., None]
    return np.max(in_turn_speed(alpha, gammas, target=lambda rows: grown[rows - 1] + between, draft=draft), axis=-1)


def duodecoding_phi(
    alpha: float,
    ratio: float | np.ndarray,
    grown: np.ndarray,
    borrowing: np.ndarray | None = None,
    between: float = 0.0,
) -> np.ndarray:
    """φ of DuoDecoding with one sequence of the best length, over vanilla on the same cores as its target; as above.

    Both sides work at once, so that an iteration takes as long as the slower one; first tokens are
    accepted with the same chance as the others. borrowing: `grown` with the draft's cores too, as a multiple of
    T(1) without them, where the target gets them once the draft has made its steps.
    """
    ratio = np.asarray(ratio, dtype=float)[..., None]
    gamma, lengths = np.clip(np.floor(ratio), 1, LONGEST), np.arange(1, LONGEST + 1)
    drafting, both = lengths / ratio, grown if borrowing is None else np.minimum(borrowing, grown)

    def target(rows: int | np.ndarray) -> np.ndarray:
        # While the draft works, this share of the pass is done; the rest is done on all cores.
        done = np.minimum(1, drafting / grown[rows - 1])
        return done * grown[rows - 1] + (1 - done) * both[rows - 1] + between

    speeds = parallel_speed(alpha, alpha, lengths, target=target, drafting=drafting + between)
    return np.where(lengths <= gamma, speeds, 0.0).max(axis=-1)


def formula_maps(
    together: CostModel,
    in_turn: CostModel,
    *,
    between: tuple[float, float, float] = (0.0, 0.0, 0.0),
    borrows: bool = False,
) -> dict[str, np.ndarray]:
    """φ of SpS and DuoDecoding over vanilla with the costs in turn, at ALPHAS (lines) and RATIOS.

    between: of vanilla, SpS and DuoDecoding, see `seconds_between`; borrows: whether DuoDecoding's target gets the
    draft's cores once that is done.
    """
    # Vanilla has the draft's cores too.
    one, one_beside = (float(costs.target_time(1, CONTEXTS[0])) for costs in (in_turn, together))
    alone, beside = growth(in_turn), growth(together)
    vanilla, sps, duo = alone[0] * one + between[0], between[1] / one, between[2] / one_beside
    both = alone * one / one_beside if borrows else None
    return {
        SPS: vanilla / one * np.array([speculative_phi(alpha, RATIOS, alone, sps) for alpha in ALPHAS]),
        DUO: vanilla / one_beside * np.array([duodecoding_phi(alpha, RATIOS, beside, both, duo) for alpha in ALPHAS]),
    }


class Ways(NamedTuple):
    """φ of DuoTree over vanilla, its draft beside the target and in turn; numbers or [alpha][ratio]."""

    beside: float | np.ndarray
    in_turn: float | np.ndarray

    @property
    def phi(self) -> float | np.ndarray:
        return np.maximum(self.beside, self.in_turn)


def duotree_phi(together: CostModel, in_turn: CostModel, places: Places) -> Ways:
    """Of DuoTree with these costs of its two ways, over vanilla with the costs in turn, which has no overhead here."""
    vanilla = 1 / in_turn.target_time(1, CONTEXT)
    played = {"children": CHILDREN, "iterations": PLAYED}
    ways = ((together, True), (in_turn, False))
    return Ways(*(forecast(costs, places, beside=beside, **played) / vanilla for costs, beside in ways))


@lru_cache(maxsize=8)
def duotree_map(together: CostModel, in_turn: CostModel, places: Places) -> Ways:
    """φ over ALPHAS (lines) and RATIOS, of which only the draft's costs and the places' shares differ."""
    mixes = [exponential_tilt(places, alpha) for alpha in PLAYED_ALPHAS]
    factors, together, in_turn = ratio_of(in_turn) / PLAYED_RATIOS, padded(together), padded(in_turn)
    ways = [(with_draft(together, factor), with_draft(in_turn, factor)) for factor in factors.tolist()]
    phis = np.array([[duotree_phi(*pair, mix) for pair in ways] for mix in mixes])
    return Ways(between(phis[..., 0]), between(phis[..., 1]))


def with_free_rows(costs: CostModel) -> CostModel:
    """Costs of a target that verifies any number of tokens in the time of one."""
    return replace(costs, target=tuple((times[0],) * len(times) for times in costs.target))


def with_draft(costs: CostModel, factor: float) -> CostModel:
    """Costs with a draft whose steps take so many times as long."""
    return replace(costs, draft=tuple(tuple(factor * seconds for seconds in times) for times in costs.draft))


def between(coarse: np.ndarray) -> np.ndarray:
    """φ at all ALPHAS and RATIOS: its logarithm by straight lines over α and over the ratio's logarithm."""
    lines = [np.interp(np.log(RATIOS), np.log(PLAYED_RATIOS), line) for line in np.log(coarse)]
    return np.exp([np.interp(ALPHAS, PLAYED_ALPHAS, column) for column in np.transpose(lines)]).T
