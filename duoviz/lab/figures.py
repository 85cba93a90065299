"""The paper's figures and two of our own, each drawn with plotly from rows by one function."""

from dataclasses import dataclass

import plotly.graph_objects as go

from duoviz.decoding import METHODS
from duoviz.lab import answers
from duoviz.lab.answers import Value, by_lane, iterations, mean_of, rows_of, tasks_of
from duoviz.lab.plan import DUO, SPS, VANILLA, label_of, look_of, table_lanes
from duoviz.lab.prediction import Predictions
from duoviz.lab.results import Results
from duoviz.lab.rows import Row
from duoviz.lab.tasks import task_name

# Both sides as the visualizer paints them.
TARGET, DRAFT = "#8460d6", "#12a594"
MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
GREY, FAINT = "#7d8694", "rgba(128,136,148,0.28)"
FONT = "Inter, ui-sans-serif, system-ui, sans-serif"
AXIS = {"gridcolor": FAINT, "zeroline": False, "linecolor": FAINT, "automargin": True, "title": {"font": {"size": 13}}}
# For a light page and a dark one; nothing that only plotly.js 4 has is used, because Gradio's page carries 3.
LOOK = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": GREY},
        # Plotly's buttons stand in the margin, beside the legend and what is drawn.
        "modebar": {"orientation": "v"},
        "margin": {"l": 64, "r": 48, "t": 36, "b": 56},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        "hoverlabel": {"font": {"family": FONT}},
        "xaxis": AXIS,
        "yaxis": AXIS,
    }
)


@dataclass(frozen=True)
class Figure:
    """A drawing, what it was drawn from as lines of a CSV file (headings first), and how to read it."""

    name: str
    title: str
    drawing: go.Figure
    data: list[list]
    note: str = ""


def styled(drawing: go.Figure, *, height: int = 380, **layout) -> go.Figure:
    """The look that all figures share."""
    return drawing.update_layout(template=LOOK, height=height, **layout)


def hatched(colour: str, shape: str) -> dict:
    """A bar's filling: its colour under a pattern, so that colour is not the only sign."""
    pattern = {"shape": shape, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.75)", "size": 7, "solidity": 0.18}
    return {"color": colour, "pattern": pattern}


def figure_1(results: Results) -> Figure:
    """Drafting eight tokens beside verifying eight, by the length of the text before them."""
    drawing, data = go.Figure(), [["side", "text before, tokens", "mean, s", "standard deviation, s", "n"]]
    rows = sorted(results.forwards, key=lambda row: row["length"])
    lengths = [row["length"] for row in rows]
    for side, label, colour, dash, symbol in (
        ("target", "Target verifies 8 tokens", TARGET, "solid", MARKS[0]),
        ("draft", "Draft writes 8 tokens", DRAFT, "dash", MARKS[1]),
    ):
        means = [mean_of(row[side]) for row in rows]
        data += [[label, length, *mean[:3]] for length, mean in zip(lengths, means, strict=True)]
        drawing.add_scatter(
            x=lengths,
            y=[1e3 * mean.value for mean in means],
            error_y={"array": [1e3 * (mean.spread or 0) for mean in means], "color": colour},
            name=label,
            line={"color": colour, "dash": dash},
            marker={"symbol": symbol, "size": 8},
            customdata=[mean.n for mean in means],
            hovertemplate="%{y:.1f} ms after %{x:,} tokens (n = %{customdata})",
        )
    ticks = sorted({*lengths})
    drawing.update_xaxes(type="log", title="text before, tokens", tickvals=ticks, ticktext=[f"{n:,}" for n in ticks])
    drawing.update_yaxes(title="time for 8 tokens, ms", rangemode="tozero")
    return Figure(
        "figure-1",
        "Figure 1: drafting 8 tokens against verifying 8",
        styled(drawing),
        data,
        "Both work at the same time, each on its own device. Error bars: one standard deviation.",
    )


def figure_3(results: Results) -> Figure:
    """The time to the first token, relative to vanilla's."""
    lanes, tasks, drawing = by_lane(results.rows, table_lanes()), tasks_of(results.rows), go.Figure()
    base = lanes.pop(VANILLA, [])
    data: list[list] = [["method", "task", "TTFT over vanilla's", "standard deviation", "n", "mean TTFT, s"]]
    for lane, rows in lanes.items():
        bars = []
        for task in tasks:
            mine = rows_of(rows, lane, task)
            relative = answers.relative_ttft(mine, base)
            bars.append(relative or Value(float("nan"), None, 0))
            if relative:
                data.append([label_of(lane), task_name(task), *relative[:3], mean_of(map(answers.ttft, mine)).value])
        drawing.add_bar(
            x=[task_name(task) for task in tasks],
            y=[bar.value for bar in bars],
            error_y={"array": [bar.spread or 0 for bar in bars], "color": GREY, "thickness": 1, "width": 2},
            name=label_of(lane),
            marker=hatched(*look_of(lane)[:2]),
            customdata=[bar.n for bar in bars],
            hovertemplate="%{y:.2f} × vanilla's (n = %{customdata})",
        )
    drawing.add_hline(y=1, line={"color": GREY, "width": 1.5, "dash": "dot"})
    drawing.update_yaxes(title="time to first token over vanilla's", rangemode="tozero")
    return Figure(
        "figure-3",
        "Figure 3: time to the first token, relative to vanilla",
        styled(drawing, barmode="group", bargap=0.22),
        data,
        "Below the line at 1 the first token, of the first turn, is earlier than vanilla's. Error bars: one standard "
        "deviation over the questions.",
    )


def figure_4(results: Results) -> Figure:
    """The mean iteration of vanilla, SpS and DuoDecoding: how long each side works, on how many tokens."""
    drawing, longest, seen = go.Figure(), 0.0, set()
    data: list[list] = [["method", "side", "start, ms", "mean time, ms", "standard deviation, ms", "mean tokens", "n"]]
    for lane, rows in by_lane(results.rows, (VANILLA, SPS, DUO)).items():
        for side, start, time, many, words in mean_iteration(rows, lane):
            data.append([label_of(lane), side, start, *time[:2], many, time.n])
            longest = max(longest, start + time.value)
            drawing.add_bar(
                y=[[label_of(lane)], [side]],
                x=[time.value],
                base=[start],
                orientation="h",
                name=side.capitalize(),
                legendgroup=side,
                showlegend=side not in seen,
                marker=hatched(*((TARGET, "") if side == "target" else (DRAFT, "/"))),
                text=f" {words}",
                textposition="outside",
                cliponaxis=False,
                hovertemplate=f"{words} (n = {time.n:,})<extra></extra>",
            )
            seen.add(side)
    # Room for the words beside the bars, also on a narrow screen.
    drawing.update_xaxes(title="time since the iteration began, ms", range=[0, 3 * longest])
    drawing.update_yaxes(autorange="reversed")
    return Figure(
        "figure-4",
        "Figure 4: one iteration, its time and its tokens",
        styled(drawing, height=300),
        data,
        "Means over all iterations except those that read a prompt, ± one standard deviation. SpS drafts, then "
        "verifies. DuoDecoding does both at once: it verifies what it drafted one iteration earlier.",
    )


def mean_iteration(rows: list[Row], lane: str) -> list[tuple[str, float, Value, float, str]]:
    """For each side that works: its name, its start and its time in ms, its tokens, and all that in words."""
    if not (columns := iterations(rows, "target", "rows", "draft", "drafted", "committed", later=True)):
        return []
    target, checked, draft, drafted, commits = (mean_of(column) for column in zip(*columns, strict=True))
    target, draft = (Value(1e3 * value.value, 1e3 * (value.spread or 0), value.n) for value in (target, draft))
    words = f"verifies {work(checked.value, target)}, commits {commits.value:.2f}"
    # SpS's draft works first; DuoDecoding's meanwhile.
    sides = [("target", draft.value if lane == SPS else 0.0, target, checked.value, words)]
    if draft.value:
        sides.append(("draft", 0.0, draft, drafted.value, f"drafts {work(drafted.value, draft)}"))
    return sides


def work(count: float, time: Value) -> str:
    tokens = "1 token" if count == 1 else f"{count:.1f} tokens"
    return f"{tokens} in {time.value:.1f} ± {time.spread:.1f} ms"


def figure_5(results: Results) -> Figure:
    """How often θ started how many sequences, by task."""
    rows = rows_of(results.rows, DUO)
    drawing, data = go.Figure(), [["task", "k", "iterations", "share of the task's iterations"]]
    by_task = {
        task_name(task): [k for (k,) in iterations(rows_of(rows, DUO, task), "k") if k is not None]
        for task in tasks_of(rows)
    }
    largest = max((max(ks) for ks in by_task.values() if ks), default=0)
    for k in range(1, largest + 1):
        shares = [100 * ks.count(k) / len(ks) if ks else 0 for ks in by_task.values()]
        data += [
            [name, k, ks.count(k), percent / 100] for (name, ks), percent in zip(by_task.items(), shares, strict=True)
        ]
        depth = (k - 1) / max(1, largest - 1)
        drawing.add_bar(
            y=[f"{name}<br>n = {len(ks):,}" for name, ks in by_task.items()],
            x=shares,
            orientation="h",
            name=f"k = {k}",
            marker={"color": f"hsl(174, {70 - 20 * depth:.0f}%, {26 + 54 * depth:.0f}%)"},
            text=[f"{percent:.0f}" if percent >= 6 else "" for percent in shares],
            textfont={"color": "white" if depth < 0.2 else "#14161c"},
            insidetextanchor="middle",
            hovertemplate=f"k = {k}: %{{x:.1f}} % of the iterations<extra></extra>",
        )
    drawing.update_xaxes(title="share of the iterations, %", range=[0, 100])
    drawing.update_yaxes(autorange="reversed")
    return Figure(
        "figure-5",
        "Figure 5: the number of sequences k, by task",
        styled(drawing, height=130 + 42 * len(by_task), barmode="stack", bargap=0.25),
        data,
        "n is the number of iterations in which θ chose k.",
    )


PARTS = {
    "prompt": ("the target reads the prompt", TARGET, "."),
    "target": ("only the target works", TARGET, ""),
    "both": ("both work", TARGET, "x"),
    "draft": ("only the draft works", DRAFT, "/"),
    "neither": ("neither: lookups, checks, bookkeeping", GREY, ""),
}


def time_split(results: Results) -> Figure:
    """Where each method's time goes, in milliseconds for each token it wrote."""
    lanes, drawing = by_lane(results.rows, table_lanes()), go.Figure()
    data: list[list] = [["method", "part", "mean, ms per token", "standard deviation, ms per token", "n"]]
    for part, (label, colour, pattern) in PARTS.items():
        values = []
        for lane, mine in lanes.items():
            spent = [sum(turn["time"][part] for turn in row["measured"]) for row in mine]
            each = [1e3 * seconds / answers.tokens(row) for seconds, row in zip(spent, mine, strict=True)]
            together = 1e3 * sum(spent) / sum(map(answers.tokens, mine))
            values.append(Value(together, answers.spread(each), len(each)))
            data.append([label_of(lane), label, *values[-1][:3]])
        drawing.add_bar(
            y=[label_of(lane).replace(", ", ",<br>") for lane in lanes],
            x=[value.value for value in values],
            orientation="h",
            name=label,
            marker=hatched(colour, pattern),
            customdata=[(value.spread or 0, value.n) for value in values],
            hovertemplate="%{x:.1f} ± %{customdata[0]:.1f} ms per token (n = %{customdata[1]})",
        )
    drawing.update_xaxes(title="wall time per token, ms")
    drawing.update_yaxes(autorange="reversed")
    return Figure(
        "time",
        "Where each method's time goes",
        styled(drawing, height=160 + 40 * len(lanes), barmode="stack", bargap=0.3),
        data,
        "Time per token, all tokens alike (φ is of means over the tasks); shorter is faster.",
    )


def predicted(predictions: Predictions) -> Figure:
    """The cost model's tokens per second against the measured ones."""
    drawing, points = go.Figure(), {lane: together for lane, (together, _) in predictions.items()}
    data: list[list] = [["method", "measured, tokens/s", "predicted, tokens/s", "error"]]
    data += [[label_of(lane), each.speed, each.speed_predicted, each.error] for lane, each in points.items()]
    top = 1.1 * max((max(each.speed, each.speed_predicted) for each in points.values()), default=1)
    drawing.add_scatter(
        x=[0, top], y=[0, top], mode="lines", line={"color": GREY, "dash": "dot"}, name="as measured", hoverinfo="skip"
    )
    for place, (lane, prediction) in enumerate(points.items()):
        symbol = look_of(lane).mark if lane in METHODS else MARKS[place % len(MARKS)]
        drawing.add_scatter(
            x=[prediction.speed],
            y=[prediction.speed_predicted],
            mode="markers",
            marker={"color": look_of(lane).colour, "size": 11, "symbol": symbol},
            name=label_of(lane),
            hovertemplate=f"measured %{{x:.1f}}, predicted %{{y:.1f}} tokens/s ({100 * prediction.error:+.0f} %)",
        )
    drawing.update_xaxes(title="measured, tokens/s", range=[0, top])
    drawing.update_yaxes(title="predicted, tokens/s", range=[0, top])
    legend = {"orientation": "v", "x": 1.02, "xanchor": "left", "y": 1, "yanchor": "top"}
    # The legend has a line for each point and one for the dotted line; higher than the plot it would scroll.
    height = max(440, 120 + 20 * (len(points) + 1))
    return Figure(
        "cost-model",
        "The cost model: predicted against measured speed",
        styled(drawing, height=height, legend=legend),
        data,
        "Without reading the prompt. On the dotted line the prediction is right.",
    )
