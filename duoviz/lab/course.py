"""What forwards cost in the course of a run: the estimate that decoding uses, from the run's own forwards."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from duoviz.decoding import METHODS
from duoviz.decoding.costs import WIDTHS, CostModel, Costs, Forward, step_times
from duoviz.lab.environment import IN_TURN, ON_TARGET, TOGETHER
from duoviz.lab.rows import Row, key

# Iterations that are expected together, from all before them; and of which every so many-th teaches, for it takes time.
# Both are for runs of MANY iterations at most, and grow with longer ones.
STRETCH, TEACHES, MANY = 8, 2, 100_000


def cost_models(environment: dict) -> dict[str, CostModel]:
    """The environment's cost models by TOGETHER, IN_TURN, and ON_TARGET where results have it."""
    return {
        name: CostModel(tuple(map(tuple, costs["target"])), tuple(map(tuple, costs["draft"])))
        for name, costs in environment["costs"].items()
    }


def works_beside(row: Row) -> bool:
    """Whether the draft worked at the same time as the target, which a method may leave to the machine."""
    overlaps = (turn["metrics"].get("overlap") is not None for turn in row["measured"])
    return METHODS[row["settings"]["method"]].parallel or any(overlaps)


def way_of(row: Row) -> str:
    """How a lane's target works."""
    return TOGETHER if works_beside(row) else ON_TARGET if row["settings"]["cores"] == "target" else IN_TURN


def forward_seconds(rows: Sequence[Row], environment: dict) -> dict[tuple, list[np.ndarray]]:
    """By answer (see `rows.key`): of each turn's iterations, the seconds that their forwards take; 0 for the first.

    Each is expected from all forwards before it in the run, since machines change their speed; the first ones from the
    environment's costs.
    """
    course = {name: costs_like(model) for name, model in cost_models(environment).items()}
    coarser = 1 + sum(sum(row["choices"][0]["decoding_steps"]) for row in rows) // MANY
    expected = {}
    # Costs are of our own models' forwards.
    for row in sorted((row for row in rows if "baseline" not in row), key=lambda row: row.get("tstamp", 0.0)):
        costs = course.get(way_of(row), course[TOGETHER])
        join = np.maximum if works_beside(row) else np.add
        expected[key(row)] = [seconds_of_turn(turn, costs, join, coarser) for turn in row["measured"]]
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
    iterations = {"draft_rows": turn["iterations"]["draft_steps"]} | turn["iterations"]
    names = ("rows", "target", "draft_steps", "draft_rows", "draft")
    rows, target, steps, draft_rows, draft = (np.array(iterations[name]) for name in names)
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
