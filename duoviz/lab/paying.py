"""When drafting pays: φ of each method that drafts over α and T_target / T_draft, by the cost model and as measured."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from duoviz.lab import prediction
from duoviz.lab.answers import GAIN, Value, acceptance, rows_of, speeds, tasks_of
from duoviz.lab.figures import GREY, Figure, styled
from duoviz.lab.plan import DUO, DUOTREE, SPS, VANILLA, label_of
from duoviz.lab.prediction import ALPHAS, RATIOS, Ways
from duoviz.lab.results import Results
from duoviz.lab.tasks import ALL_TASKS, with_all

# Of the map, by φ: each colour's red, green and blue, and how opaque it is. The more is gained or lost, the more it
# stands out from a light page and from a dark one.
COLOURS = [(0, (196, 87, 27), 1), (1, (196, 87, 27), 0), (1, (14, 143, 184), 0), (3, (14, 143, 184), 1)]
LARGEST_PHI = COLOURS[-1][0]
# As rows cost where it was measured, and where they cost nothing.
ROWS = {"here": "extra tokens cost as measured", "free": "extra tokens cost nothing"}
HOVER_PHI = "φ %{z:.2f} at ratio %{x:.1f}, α %{y:.2f}<extra></extra>"


@dataclass(frozen=True)
class Side:
    """A method. ratio: T_target / T_draft where it was measured; phi: over vanilla, [alpha][ratio] for each of ROWS;
    lead: of a draft that may work beside the target or in turn, the logarithm of how much faster it is beside, as
    `phi`; overall, points: α and φ as measured on all tasks, None where it was not, and by task.
    """

    lane: str
    ratio: float
    phi: dict[str, np.ndarray]
    lead: dict[str, np.ndarray]
    overall: tuple[float, Value] | None
    points: dict[str, tuple[float, Value]]


def sides(results: Results) -> list[Side]:
    """SpS, DuoDecoding and DuoTree."""
    costs, ways = prediction.map_costs(results.environment), tree_ways(results.environment)
    between = tuple(prediction.seconds_between(rows_of(results.rows, lane)) for lane in (VANILLA, SPS, DUO))
    # On a processor the target goes on with the draft's cores too.
    here = {"between": between, "borrows": bool(results.environment.get("cpu"))}
    maps = {rows: prediction.formula_maps(*costs[rows], **(here if rows == "here" else {})) for rows in ROWS}
    lead = {rows: np.log(way.beside / way.in_turn) for rows, way in ways.items()}
    together, in_turn = costs["here"]
    compared = []
    for lane, of_lane in ((SPS, in_turn), (DUO, together), (DUOTREE, in_turn)):
        phi = {rows: np.asarray(ways[rows].phi) if lane == DUOTREE else maps[rows][lane] for rows in ROWS}
        points = points_of(results, lane)
        overall = points.pop(ALL_TASKS, None)
        compared.append(Side(lane, prediction.ratio_of(of_lane), phi, lead if lane == DUOTREE else {}, overall, points))
    return compared


def tree_ways(environment: dict) -> dict[str, Ways]:
    """φ of DuoTree's two ways, for each of ROWS."""
    places, cores = prediction.places_of(environment), environment.get("cores", {})
    ways = {rows: prediction.duotree_map(*costs, places) for rows, costs in prediction.map_costs(environment).items()}
    if set(cores.get("target", [])) & set(cores.get("draft", [])):
        # On one core nothing works beside anything.
        ways["here"] = Ways(ways["here"].in_turn, ways["here"].in_turn)
    return ways


def points_of(results: Results, lane: str) -> dict[str, tuple[float, Value]]:
    """How often the draft's best token was right (α) and a lane's φ on all tasks and on each, by what tables call them.

    Of a tree or of several sequences, the tokens verified are no sample of the draft's best ones; of the chains that
    SpS drafts they are.
    """
    chains = rows_of(results.rows, SPS) or rows_of(results.rows, lane)
    groups = with_all(tasks_of(results.rows))
    alphas = {name: acceptance(row for row in chains if row["task"] in tasks).rate for name, tasks in groups.items()}
    phis = speeds(results.rows, [lane])[lane].phi if rows_of(results.rows, lane) else {}
    return {name: (alpha, phi) for name, phi in phis.items() if phi and (alpha := alphas[name]) is not None}


def map_data(results: Results) -> dict:
    """The maps as plain data: each `Side`, its maps by lines of alphas and columns of ratios, and its points by task.

    error: by which share the model's φ is larger than the measured one there. gain: φ along the border. colours: of φ,
    by growing φ. beside: its `lead`. start: where this machine stands in both lists, and its measured draft steps per
    target pass (`steps`). beyond: see `duo_or_sps`.
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
                {"task": name, "alpha": alpha, "phi": phi.value, "n": phi.n}
                for name, (alpha, phi) in side.points.items()
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
        "colours": [[phi, [*colour, 255 * opaque]] for phi, colour, opaque in COLOURS],
        "start": {
            "alpha": nearest(ALPHAS, alpha),
            "ratio": nearest(RATIOS, compared[0].ratio),
            "steps": compared[0].ratio,
        },
        "panels": panels,
        "beyond": {rows: duo_or_sps(compared, nearest(ALPHAS, alpha), rows) for rows in ROWS},
    }


def duo_or_sps(compared: list[Side], alpha: int, rows: str) -> str:
    """Where DuoDecoding beats SpS in a line (`alpha`) of the maps, and where this machine stands; rows: of ROWS."""
    phis = {side.lane: side.phi[rows][alpha] for side in compared}
    better = RATIOS[phis[DUO] > phis[SPS]]
    expected = (
        f"DuoDecoding to be faster than SpS up to {better[-1]:.1f} draft steps per target pass"
        if len(better)
        else "SpS to be at least as fast as DuoDecoding everywhere"
    )
    in_turn, beside = (f"{side.ratio:.1f}" for side in compared if side.lane in (SPS, DUO))
    return (
        f"At α = {ALPHAS[alpha]:.2f}, where {ROWS[rows]}, the map expects {expected}. "
        f"Measured here: {in_turn} draft steps where both take turns, {beside} on DuoDecoding's processors."
    )


def model_error(side: Side) -> float | None:
    """At the method's own acceptance and costs, over all tasks; None where it was not measured."""
    if not side.overall:
        return None
    alpha, measured = side.overall
    return float(side.phi["here"][nearest(ALPHAS, alpha), nearest(RATIOS, side.ratio)]) / measured.value - 1


def nearest(values: np.ndarray, value: float) -> int:
    """The index of the value that comes closest."""
    return int(np.argmin(np.abs(np.log(values) - np.log(value))))


def figure(results: Results) -> Figure:
    """φ by the cost model over T_target / T_draft and α, of each method that drafts; and measured runs."""
    compared = sides(results)
    drawing = make_subplots(
        2,
        len(compared),
        shared_xaxes=True,
        shared_yaxes=True,
        horizontal_spacing=0.05,
        vertical_spacing=0.1,
        # In three lines, which fit side by side on a narrow screen.
        subplot_titles=[
            f"{label_of(side.lane)},<br>{words.replace(' cost', '<br>cost')}"
            for words in ROWS.values()
            for side in compared
        ],
    )
    drawing.update_annotations(font_size=12)
    data: list[list] = [["what", "panel", "draft steps per target pass", "α", "φ", "noise", "n"]]
    for column, side in enumerate(compared, 1):
        label, measured = label_of(side.lane), [(name, *point) for name, point in side.points.items()]
        for row, (rows, words) in enumerate(ROWS.items(), 1):
            z, where = side.phi[rows].astype("f4"), {"row": row, "col": column}
            drawing.add_heatmap(x=RATIOS, y=ALPHAS, z=z, coloraxis="coloraxis", hovertemplate=HOVER_PHI, **where)
            add_contour(drawing, z, GAIN, {"width": 2}, where)
            if side.lead:
                add_contour(drawing, side.lead[rows].astype("f4"), 0, {"width": 1.5, "dash": "dash"}, where)
            data += [
                ["model", f"{label}, {words}", ratio, alpha, value, "", ""]
                for alpha, line in zip(ALPHAS, side.phi[rows], strict=True)
                for ratio, value in zip(RATIOS, line, strict=True)
            ]
        data += [["measured", f"{label}, {name}", side.ratio, alpha, *phi[:3]] for name, alpha, phi in measured]
        drawing.add_scatter(
            x=[side.ratio] * len(measured),
            y=[alpha for _, alpha, _ in measured],
            mode="markers",
            marker={
                # Open: what is not opaque would take the map's colour on.
                "symbol": "circle-open",
                "color": GREY,
                "size": 11,
                "line": {"width": 2},
            },
            # A circle at the axes' end is drawn whole.
            cliponaxis=False,
            text=[f"{name}: φ {phi.value:.2f} (n = {phi.n})" for name, _, phi in measured],
            hovertemplate="measured, %{text}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
    drawing.update_xaxes(type="log", tickvals=[0.5, 2, 8, 32, 128])
    drawing.update_xaxes(title="draft steps<br>per target pass", row=2)
    drawing.update_yaxes(title="α: best token right", col=1, range=[0, 1])
    bar = {"title": {"text": "φ"}, "outlinewidth": 0}
    scale = [[phi / LARGEST_PHI, f"rgba{(*colour, opaque)}"] for phi, colour, opaque in COLOURS]
    colours = {"colorscale": scale, "cmin": 0, "cmax": LARGEST_PHI, "colorbar": bar}
    return Figure(
        "pays",
        "When does it pay? Every map",
        styled(drawing, height=740, margin={"t": 60}, coloraxis=colours),
        data,
        "Colours: the speed-up φ that is expected; on the line it is "
        f"{GAIN:.2f}. α: how often the draft's best token is right, all over a text. A circle is a measurement on one "
        "task: hover over it for its φ. All are over vanilla on all cores. DuoDecoding has one sequence here; "
        "with several, first tokens are accepted more often. Where extra tokens cost as measured, SpS, DuoDecoding and "
        "vanilla also have their measured time between passes. DuoTree's policy is simulated at "
        f"{len(prediction.PLAYED_RATIOS)} ratios and {len(prediction.PLAYED_ALPHAS)} values of α, interpolated "
        "between, without text lookup. On its dashed line, parallel and alternating are equally fast.",
    )


def add_contour(drawing: go.Figure, z: np.ndarray, level: float, line: dict, where: dict) -> None:
    """Draw the line where the map has this value, and nothing else."""
    contours = {"start": level, "end": level, "size": 1, "coloring": "none"}
    quiet = {"showscale": False, "showlegend": False, "hoverinfo": "skip"}
    drawing.add_contour(x=RATIOS, y=ALPHAS, z=z, contours=contours, line={"color": GREY} | line, **quiet, **where)
