"""When drafting pays: φ of each method that drafts over α and T_target / T_draft, by the cost model and as measured."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duoviz.decoding.costs import CONTEXTS, CostModel
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.plan import DUO, DUOTREE, SPS, VANILLA
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
    with_free_rows,
)
from duoviz.lab.results import Results
from duoviz.lab.values import Value, acceptance, phi, rows_of, tasks_of

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
    """A method. ratio: T_target / T_draft where it was measured; phi: over vanilla, [alpha][ratio] for each of ROWS;
    ways: what phi is the larger one of, where the draft may work beside the target or in turn.
    """

    lane: str
    ratio: float
    phi: dict[str, np.ndarray]
    points: list[Point]
    ways: dict[str, Ways] | None = None


def sides(results: Results) -> list[Side]:
    """SpS, DuoDecoding and DuoTree."""
    models, ways = padded_models(results.environment), tree_ways(results.environment)
    together, in_turn = models[TOGETHER], models[IN_TURN]
    maps = formula_maps(duodecoding_phi, together)
    # Vanilla has the draft's cores too.
    fewer_cores = in_turn.target_time(1, CONTEXTS[0]) / together.target_time(1, CONTEXTS[0])
    maps["here"] *= fewer_cores

    def side(lane: str, costs: CostModel, phi: dict[str, np.ndarray], ways: dict | None = None) -> Side:
        return Side(lane, ratio_of(costs), phi, points_of(results, lane), ways)

    return [
        side(SPS, in_turn, formula_maps(speculative_phi, in_turn)),
        side(DUO, together, maps),
        side(DUOTREE, in_turn, {rows: np.asarray(way.phi) for rows, way in ways.items()}, ways),
    ]


def formula_maps(formula: Callable, costs: CostModel) -> dict[str, np.ndarray]:
    """φ by a formula of `prediction` at ALPHAS (lines) and RATIOS, for each of ROWS."""
    growths = {"here": growth(costs), "free": growth(with_free_rows(costs))}
    return {rows: np.array([formula(alpha, RATIOS, grown) for alpha in ALPHAS]) for rows, grown in growths.items()}


def tree_ways(environment: dict) -> dict[str, Ways]:
    """φ of DuoTree's two ways, for each of ROWS."""
    models, places = padded_models(environment), places_of(environment)
    # With free rows a draft beside the target takes nothing from it, as where that is on a large GPU.
    free = with_free_rows(models[IN_TURN])
    maps = {"here": duotree_map(models[TOGETHER], models[IN_TURN], places), "free": duotree_map(free, free, places)}
    cores = environment.get("cores", {})
    if set(cores.get("target", [])) & set(cores.get("draft", [])):
        # On one core nothing works beside anything.
        maps["here"] = Ways(maps["here"].in_turn, maps["here"].in_turn)
    return maps


def points_of(results: Results, lane: str) -> list[Point]:
    """A lane's φ, task by task.

    Of a tree, the tokens verified are no sample of the draft's best ones; of the chains that SpS drafts they are.
    """
    rows, chains = results.rows, SPS if lane == DUOTREE else lane
    mine, theirs = rows_of(rows, lane), rows_of(rows, VANILLA)
    found = [(task, acceptance(rows_of(rows, chains, task)).rate, phi(mine, theirs, [task])) for task in tasks_of(mine)]
    return [Point(task, alpha, ratio) for task, alpha, ratio in found if alpha is not None and ratio]
