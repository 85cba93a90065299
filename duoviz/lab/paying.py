"""When drafting pays: φ of each method that drafts over α and T_target / T_draft, by the cost model and as measured."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.plan import DUO, DUOTREE, SPS, TARGET_ONLY, VANILLA
from duoviz.lab.prediction import (
    ALPHAS,
    RATIOS,
    Ways,
    duodecoding_phi,
    duotree_map,
    growth,
    padded_models,
    places_of,
    ratio_of,
    speculative_phi,
)
from duoviz.lab.results import Results
from duoviz.lab.tables import tasks_of
from duoviz.lab.values import Value, acceptance, phi, rows_of

# Of φ: where the line is drawn. At 1 itself DuoDecoding is wherever it keeps no more than first tokens.
GAIN = 1.05
# As rows cost where it was measured, and where they cost nothing.
ROWS = ("here", "free")


@dataclass(frozen=True)
class Point:
    """What was measured on a task, at the α that the draft had there."""

    task: str
    alpha: float
    phi: Value


@dataclass(frozen=True)
class Side:
    """A method. base: the lane that its φ is over; ratio: T_target / T_draft where it was measured; phi: [alpha][ratio]
    for each of ROWS; ways: what phi is the larger one of, where the draft may work beside the target or in turn.
    """

    lane: str
    base: str
    ratio: float
    phi: dict[str, np.ndarray]
    points: list[Point]
    ways: dict[str, Ways] | None = None


def sides(results: Results) -> list[Side]:
    """SpS, DuoDecoding and DuoTree."""
    models, ways = padded_models(results.environment), tree_ways(results.environment)
    together, in_turn = models[TOGETHER], models[IN_TURN]
    maps = {
        SPS: formula_maps(speculative_phi, growth(in_turn)),
        DUO: formula_maps(duodecoding_phi, growth(together)),
        DUOTREE: {rows: way.phi for rows, way in ways.items()},
    }
    parts = ((SPS, VANILLA, in_turn), (DUO, TARGET_ONLY, together), (DUOTREE, VANILLA, in_turn))
    return [
        Side(
            lane,
            base,
            ratio_of(costs),
            maps[lane],
            points_of(results, lane, base),
            ways if lane == DUOTREE else None,
        )
        for lane, base, costs in parts
    ]


def formula_maps(formula: Callable, grown: np.ndarray) -> dict[str, np.ndarray]:
    """φ by a formula of `prediction` at ALPHAS (lines) and RATIOS, for each of ROWS."""
    growths = {"here": grown, "free": growth(None)}
    return {rows: np.array([formula(alpha, RATIOS, cost) for alpha in ALPHAS]) for rows, cost in growths.items()}


def tree_ways(environment: dict) -> dict[str, Ways]:
    """φ of DuoTree's two ways, for each of ROWS."""
    models, places = padded_models(environment), places_of(environment)
    maps = {rows: duotree_map(models[TOGETHER], models[IN_TURN], places, free=rows == "free") for rows in ROWS}
    cores = environment.get("cores", {})
    if set(cores.get("target", [])) & set(cores.get("draft", [])):
        # On one core nothing works beside anything.
        maps["here"] = Ways(maps["here"].in_turn, maps["here"].in_turn)
    return maps


def points_of(results: Results, lane: str, base: str) -> list[Point]:
    """A lane's φ, task by task.

    Of a tree, the tokens verified are no sample of the draft's best ones; of the chains that SpS drafts they are.
    """
    points = []
    for task in tasks_of(rows_of(results.rows, lane)):
        mine, theirs = rows_of(results.rows, lane, task), rows_of(results.rows, base, task)
        alpha = acceptance(rows_of(results.rows, SPS, task) if lane == DUOTREE else mine).rate
        speed_up = phi(mine, theirs, [task])
        if alpha is not None and speed_up:
            points.append(Point(task, alpha, speed_up))
    return points
