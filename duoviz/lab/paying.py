"""When drafting pays: φ of each method that drafts over α and T_target / T_draft, by the cost model and as measured."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from duoviz.decoding.costs import CONTEXTS, CostModel
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.figures import Figure, styled
from duoviz.lab.plan import DUO, DUOTREE, SPS, label_of
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
from duoviz.lab.tasks import ALL_TASKS, with_all
from duoviz.lab.values import Value, acceptance, rows_of, speeds, tasks_of

# Of φ: where the line is drawn. At 1 itself DuoDecoding is wherever it keeps no more than first tokens.
GAIN = 1.05
# Of the map, up to the largest φ; white is where nothing is gained.
LARGEST_PHI = 3
COLOURS = [[0, "#b3541e"], [1 / LARGEST_PHI, "#f3ede4"], [0.55, "#5fc4b6"], [1, "#0b4f6c"]]
# As rows cost where it was measured, and where they cost nothing.
ROWS = ("here", "free")


@dataclass(frozen=True)
class Side:
    """A method. ratio: T_target / T_draft where it was measured; phi: over vanilla, [alpha][ratio] for each of ROWS;
    points: what was measured, see `points_of`; lead: of a draft that may work beside the target or in turn, the
    logarithm of how much faster it is beside, as `phi`.
    """

    lane: str
    ratio: float
    phi: dict[str, np.ndarray]
    points: dict[str, tuple[float, Value]]
    lead: dict[str, np.ndarray] = field(default_factory=dict)


def sides(results: Results) -> list[Side]:
    """SpS, DuoDecoding and DuoTree."""
    models, ways = padded_models(results.environment), tree_ways(results.environment)
    together, in_turn = models[TOGETHER], models[IN_TURN]
    duo, sps = formula_maps(duodecoding_phi, together), formula_maps(speculative_phi, in_turn)
    # Vanilla has the draft's cores too.
    fewer_cores = in_turn.target_time(1, CONTEXTS[0]) / together.target_time(1, CONTEXTS[0])
    duo |= {"here": fewer_cores * duo["here"]}
    tree = {rows: np.asarray(way.phi) for rows, way in ways.items()}
    lead = {rows: np.log(way.beside / way.in_turn) for rows, way in ways.items()}
    return [
        Side(SPS, ratio_of(in_turn), sps, points_of(results, SPS)),
        Side(DUO, ratio_of(together), duo, points_of(results, DUO)),
        Side(DUOTREE, ratio_of(in_turn), tree, points_of(results, DUOTREE), lead),
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


def points_of(results: Results, lane: str) -> dict[str, tuple[float, Value]]:
    """The draft's acceptance and a lane's φ on all tasks and on each, by what tables call them.

    Of a tree, the tokens verified are no sample of the draft's best ones; of the chains that SpS drafts they are.
    """
    chains, groups = rows_of(results.rows, SPS if lane == DUOTREE else lane), with_all(tasks_of(results.rows))
    alphas = {name: acceptance(row for row in chains if row["task"] in tasks).rate for name, tasks in groups.items()}
    phis = speeds(results.rows, [lane])[lane].phi if rows_of(results.rows, lane) else {}
    return {name: (alpha, phi) for name, phi in phis.items() if phi and (alpha := alphas[name]) is not None}


def by_task(side: Side) -> list[tuple[str, float, Value]]:
    """What was measured on each task."""
    return [(name, alpha, phi) for name, (alpha, phi) in side.points.items() if name != ALL_TASKS]


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
            "error": model_error(side),
            **{rows: values.round(3).tolist() for rows, values in side.phi.items()},
            "beside": {rows: lead.round(3).tolist() for rows, lead in side.lead.items()} or None,
            "points": [
                {"task": name, "alpha": alpha, "phi": phi.value, "n": phi.n} for name, alpha, phi in by_task(side)
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


def model_error(side: Side) -> float | None:
    """At the method's own acceptance and costs, over all tasks; None where it was not measured."""
    if ALL_TASKS not in side.points:
        return None
    alpha, measured = side.points[ALL_TASKS]
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
        label, measured = label_of(side.lane), by_task(side)
        for row, rows in enumerate(ROWS, 1):
            z, where = side.phi[rows].astype("f4"), {"row": row, "col": column}
            drawing.add_heatmap(x=RATIOS, y=ALPHAS, z=z, coloraxis="coloraxis", hovertemplate=HOVER_PHI, **where)
            add_contour(drawing, z, GAIN, {"width": 2}, where)
            if side.lead:
                add_contour(drawing, side.lead[rows].astype("f4"), 0, {"width": 1.5, "dash": "dot"}, where)
            data += [
                ["model", f"{label}, {costs[row - 1]}", ratio, alpha, value, "", ""]
                for alpha, line in zip(ALPHAS, side.phi[rows], strict=True)
                for ratio, value in zip(RATIOS, line, strict=True)
            ]
        data += [["measured", f"{label}, {name}", side.ratio, alpha, *phi[:3]] for name, alpha, phi in measured]
        drawing.add_scatter(
            x=[side.ratio] * len(measured),
            y=[alpha for _, alpha, _ in measured],
            mode="markers",
            marker={
                "color": [phi.value for *_, phi in measured],
                "coloraxis": "coloraxis",
                "size": 12,
                "line": {"color": "black", "width": 1.5},
            },
            # A circle at the axes' end is drawn whole.
            cliponaxis=False,
            text=[f"{name}: φ {phi.value:.2f} (n = {phi.n})" for name, _, phi in measured],
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


def add_contour(drawing: go.Figure, z: np.ndarray, level: float, line: dict, where: dict) -> None:
    """Draw the line where the map has this value, and nothing else."""
    contours = {"start": level, "end": level, "size": 1, "coloring": "none"}
    quiet = {"showscale": False, "showlegend": False, "hoverinfo": "skip"}
    drawing.add_contour(x=RATIOS, y=ALPHAS, z=z, contours=contours, line={"color": "#14161c"} | line, **quiet, **where)
