"""When drafting pays: φ of each method that drafts over α and T_target / T_draft, by the cost model and as measured."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from plotly.subplots import make_subplots

from duoviz.decoding.costs import CONTEXTS, CostModel
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.figures import Figure, styled
from duoviz.lab.plan import DUO, DUOTREE, SPS, VANILLA, label_of
from duoviz.lab.prediction import (
    ALPHAS,
    PLAYED_ALPHAS,
    PLAYED_RATIOS,
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
from duoviz.lab.tasks import task_name
from duoviz.lab.values import Value, acceptance, phi, rows_of, tasks_of

# Of φ: where the line is drawn. At 1 itself DuoDecoding is wherever it keeps no more than first tokens.
GAIN = 1.05
# Of the map, up to the largest φ; white is where nothing is gained.
LARGEST_PHI = 3
COLOURS = [[0, "#b3541e"], [1 / LARGEST_PHI, "#f3ede4"], [0.55, "#5fc4b6"], [1, "#0b4f6c"]]
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


def map_data(results: Results) -> dict:
    """The maps as plain data: φ by the cost model for each method, over alphas (lines) and ratios, as rows cost `here`
    and where they are `free`; what was measured, task by task; and where this machine stands: the nearest places in
    both lists.

    error: how much larger than the measured φ the model's is where that was measured, as a share. gain: φ along the
    border. colours: of φ, by growing φ. beside: for a method that chooses, the logarithm of how much faster its
    draft is beside the target than in turn, likewise.
    """
    compared = sides(results)
    panels = [
        {
            "method": label_of(side.lane),
            "ratio": side.ratio,
            "error": model_error(results, side),
            **{rows: values.round(3).tolist() for rows, values in side.phi.items()},
            "beside": side.ways
            and {rows: np.log(ways.beside / ways.in_turn).round(3).tolist() for rows, ways in side.ways.items()},
            "points": [
                {"task": task_name(point.task), "alpha": point.alpha, "phi": point.phi.value, "n": point.phi.n}
                for point in side.points
            ],
        }
        for side in compared
    ]
    accepted = [acceptance(rows_of(results.rows, lane)).rate for lane in (SPS, DUO)]
    alpha = next((rate for rate in accepted if rate is not None), 0.5)
    return {
        "alphas": ALPHAS.tolist(),
        "ratios": RATIOS.tolist(),
        "gain": GAIN,
        "colours": [[round(share * LARGEST_PHI, 2), list(bytes.fromhex(colour[1:]))] for share, colour in COLOURS],
        "start": {"alpha": nearest(ALPHAS, alpha), "ratio": nearest(RATIOS, compared[0].ratio)},
        "panels": panels,
    }


def model_error(results: Results, side: Side) -> float | None:
    """At the method's own acceptance and costs, over all tasks; None where it was not measured."""
    mine, base = rows_of(results.rows, side.lane), rows_of(results.rows, VANILLA)
    alpha = acceptance(rows_of(results.rows, SPS if side.lane == DUOTREE else side.lane)).rate
    measured = phi(mine, base, tasks_of(mine))
    if alpha is None or not measured:
        return None
    return float(side.phi["here"][nearest(ALPHAS, alpha), nearest(RATIOS, side.ratio)]) / measured.value - 1


def nearest(values: np.ndarray, value: float) -> int:
    """The index of the value that comes closest."""
    return int(np.argmin(np.abs(np.log(values) - np.log(value))))


def figure(results: Results) -> Figure:
    """φ by the cost model over T_target / T_draft and acceptance, of each method that drafts; and measured runs."""
    compared, costs = sides(results), ("extra tokens cost as measured", "extra tokens cost nothing")
    drawing = make_subplots(
        2,
        len(compared),
        shared_xaxes=True,
        shared_yaxes=True,
        horizontal_spacing=0.05,
        vertical_spacing=0.1,
        subplot_titles=[f"{label_of(side.lane)},<br>{rows}" for rows in costs for side in compared],
    )
    data: list[list] = [["what", "panel", "draft steps per target pass", "acceptance", "φ", "noise", "n"]]
    for column, side in enumerate(compared, 1):
        label = label_of(side.lane)
        for row, rows in enumerate(ROWS, 1):
            z, where = side.phi[rows].astype("f4"), {"row": row, "col": column}
            drawing.add_heatmap(x=RATIOS, y=ALPHAS, z=z, coloraxis="coloraxis", hovertemplate=HOVER_PHI, **where)
            drawing.add_contour(z=z, line={"color": "#14161c", "width": 2}, **contour_at(GAIN), **where)
            if side.ways:
                lead = np.log(side.ways[rows].beside / side.ways[rows].in_turn).astype("f4")
                drawing.add_contour(
                    z=lead, line={"color": "#14161c", "width": 1.5, "dash": "dot"}, **contour_at(0), **where
                )
            data += [
                ["model", f"{label}, {costs[row - 1]}", ratio, alpha, value, "", ""]
                for alpha, line in zip(ALPHAS, side.phi[rows], strict=True)
                for ratio, value in zip(RATIOS, line, strict=True)
            ]
        data += [
            ["measured", f"{label}, {task_name(point.task)}", side.ratio, point.alpha, *point.phi[:3]]
            for point in side.points
        ]
        drawing.add_scatter(
            x=[side.ratio] * len(side.points),
            y=[point.alpha for point in side.points],
            mode="markers",
            marker={
                "color": [point.phi.value for point in side.points],
                "coloraxis": "coloraxis",
                "size": 12,
                "line": {"color": "black", "width": 1.5},
            },
            # A circle at the axes' end is drawn whole.
            cliponaxis=False,
            text=[f"{task_name(point.task)}: φ {point.phi.value:.2f} (n = {point.phi.n})" for point in side.points],
            hovertemplate="measured, %{text}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
    ticks = [0.5, 2, 8, 32, 128]
    drawing.update_xaxes(type="log", tickvals=ticks)
    drawing.update_xaxes(title="draft steps per target pass", row=2)
    drawing.update_yaxes(title="acceptance", col=1, range=[0, 1])
    bar = {"title": {"text": "φ"}, "outlinewidth": 0}
    colours = {"colorscale": COLOURS, "cmin": 0, "cmax": LARGEST_PHI, "colorbar": bar}
    return Figure(
        "pays",
        "When does it pay?",
        # Two lines stand over each map.
        styled(drawing, height=720, margin={"t": 52}, coloraxis=colours),
        data,
        "Colours: the speed-up φ that the cost model expects if every "
        f"token is accepted with the same probability; on the black line it is {GAIN:.2f}. A circle is a measurement "
        "on one task, in the colour of its φ. All are over vanilla on all cores. DuoDecoding has one sequence here; "
        "with several, first tokens are accepted more often. For DuoTree, acceptance is that of the draft's best "
        "tokens. Its policy is simulated at "
        f"{len(PLAYED_RATIOS)} ratios and {len(PLAYED_ALPHAS)} acceptances, interpolated between, without text lookup. "
        "On its dotted line, parallel and alternating are equally fast.",
    )


HOVER_PHI = "φ %{z:.2f} at ratio %{x:.1f}, acceptance %{y:.2f}<extra></extra>"


def contour_at(level: float) -> dict:
    """A line where the map has this value, and nothing else."""
    contours = {"start": level, "end": level, "size": 1, "coloring": "none"}
    quiet = {"showscale": False, "showlegend": False, "hoverinfo": "skip"}
    return {"x": RATIOS, "y": ALPHAS, "contours": contours, **quiet}
