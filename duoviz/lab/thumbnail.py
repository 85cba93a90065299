"""A figure's bars and lines as a small picture, drawn from the figure's own numbers."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

WIDTH, HEIGHT, EDGE = 120, 60, 3
ACROSS, UP = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE
GREY, BLUE = "#7d8694", "#0e8fb8"


def thumbnail(drawing: go.Figure | None) -> str:
    """An SVG: of a figure its map, else its bars, else its lines and points; of none a table's lines."""
    traces: Any = drawing.data if drawing is not None else ()
    of_type = {kind: [trace for trace in traces if trace.type == kind] for kind in ("heatmap", "bar")}
    if drawing is None:
        marks = [rect(EDGE, y, ACROSS, 1.5, GREY) for y in range(8, HEIGHT, 11)]
        marks += [rect(x, y, 14, 3, GREY) for y in range(13, HEIGHT - 4, 11) for x in (8, 50, 74, 98)]
    elif of_type["heatmap"]:
        marks = map_marks(of_type["heatmap"][0])
    elif of_type["bar"]:
        marks = bar_marks(of_type["bar"], stacked=drawing.layout.barmode == "stack")
    else:
        marks = line_marks(traces)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} aria-hidden="true">{"".join(marks)}</svg>'


def map_marks(trace: Any) -> list[str]:
    """A heatmap in coarse cells, the more opaque the larger."""
    top, lines = trace.z[::-6][:8].max() or 1.0, trace.z[::-6, ::4][:8]
    width, height = ACROSS / lines.shape[1], UP / len(lines)
    return [
        rect(EDGE + width * column, EDGE + height * row, width, height, f"{BLUE}{round(255 * value / top):02x}")
        for row, line in enumerate(lines)
        for column, value in enumerate(line)
    ]


def bar_marks(bars: list, *, stacked: bool) -> list[str]:
    """Each bar at its category, beside or upon the others there."""
    lying, spans, ends = bars[0].orientation == "h", [], {}
    for place, trace in enumerate(bars):
        categories, values = (trace.y, trace.x) if lying else (trace.x, trace.y)
        if len(categories) and isinstance(categories[0], (list, tuple)):
            # Of two levels, one name for each pair.
            categories = zip(*categories, strict=True)
        for index, (name, value) in enumerate(zip(categories, values, strict=True)):
            start = ends.get(name, 0.0) if stacked else 0.0 if trace.base is None else trace.base[index]
            ends[name] = start + (0.0 if math.isnan(value) else value)
            spans.append((name, place, start, ends[name], trace.marker.color))
    names, longest = list(ends), max((end for *_, end, _ in spans), default=0.0) or 1.0
    together = stacked or bars[0].base is not None
    length, breadth = (ACROSS, UP) if lying else (UP, ACROSS)
    slot = breadth / max(1, len(names))
    thick = 0.8 * slot / (1 if together else len(bars))
    marks = []
    for name, place, start, end, colour in spans:
        across = EDGE + slot * (names.index(name) + 0.1) + (0 if together else thick * place)
        along, size = EDGE + length * start / longest, length * (end - start) / longest
        box = (along, across, size, thick) if lying else (across, HEIGHT - along - size, thick, size)
        marks.append(rect(*box, colour))
    return marks


def line_marks(traces: Sequence) -> list[str]:
    """Lines through all points, and the points; on a logarithmic axis lengths are doubled anyway, so both are linear in
    the points' order."""
    top = max((value for trace in traces for value in trace.y), default=1.0) or 1.0
    places = sorted({x for trace in traces for x in trace.x})
    step = ACROSS / max(1, len(places) - 1)
    marks = []
    for trace in traces:
        colour = escape(str((trace.line.color or trace.marker.color) or GREY))
        points = [
            (EDGE + step * places.index(x), HEIGHT - EDGE - UP / top * y) for x, y in zip(trace.x, trace.y, strict=True)
        ]
        if points and "lines" in (trace.mode or "lines"):
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        marks += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in points]
    return marks


def rect(x: float, y: float, width: float, height: float, colour: object) -> str:
    """An SVG rectangle, its corner at x, y."""
    size = f'width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{escape(str(colour))}"/>'
