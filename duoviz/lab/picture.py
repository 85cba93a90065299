"""Results as one picture for a page of text: speed-ups by task, and from which acceptance on drafting pays.

It is an SVG on a card of its own, because a picture does not know whether the page around it is light or dark.
"""

import math
from html import escape

import numpy as np

from duoviz.decoding import METHODS
from duoviz.lab.look import look_of
from duoviz.lab.paying import GAIN, ROWS, Side, sides
from duoviz.lab.plan import label_of
from duoviz.lab.prediction import ALPHAS, RATIOS
from duoviz.lab.results import Results
from duoviz.lab.tasks import ALL_TASKS, with_all
from duoviz.lab.values import speed_ups, tasks_of

WIDTH, ROW, TOP = 880, 30, 92
INK, SOFT, LINE, CARD = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"
FONT = "ui-sans-serif, system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
# Where the plots lie: of the speed-ups, and of the acceptances.
LEFT, RIGHT = (158, 500), (574, 856)


def picture(results: Results) -> str:
    """The SVG."""
    bottom = TOP + ROW * (len(tasks_of(results.rows)) + 1)
    marks = [*dots(results, bottom), *borders(sides(results), bottom)]
    environment = results.environment
    title = f"Speed-ups over vanilla on {environment['devices']['target']}, {str(environment['date'])[:10]}"
    height = bottom + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="{FONT}" font-size="13" fill="{INK}"><title>{escape(title)}</title>'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="{CARD}" stroke="{LINE}"/>'
        f"{''.join(marks)}</svg>\n"
    )


def dots(results: Results, bottom: float) -> list[str]:
    """A row for each task, in it a mark for each method at its φ."""
    values = speed_ups(results.rows, METHODS)
    overall = {lane: first.value if (first := line[ALL_TASKS]) else 0.0 for lane, line in values.items()}
    top = 0.25 + max((value.value for line in values.values() for value in line.values() if value), default=1)

    def to_x(value: float) -> float:
        return LEFT[0] + (LEFT[1] - LEFT[0]) * value / top

    marks = [text(24, 28, "Speed-up φ over vanilla, by task", size=15, weight=600)]
    ticks = np.arange(0, top, max(0.5, top // 8))
    marks += [tick(to_x(value), bottom, value, INK if value == 1 else LINE) for value in ticks]
    for number, name in enumerate(with_all(tasks_of(results.rows))):
        y = TOP + ROW * (number + 0.5)
        marks.append(text(LEFT[0] - 12, y + 4, name, anchor="end", weight=600 if number == 0 else 400))
        marks.append(f'<path d="M{LEFT[0]} {y:.1f}H{LEFT[1]}" stroke="{LINE}" stroke-width="0.75"/>')
        # The method of the largest φ over all tasks lies above the others.
        for lane in sorted(values, key=lambda lane: overall[lane]):
            if value := values[lane][name]:
                marks.append(mark(lane, to_x(value.value), y))
    for place, lane in enumerate(sorted(values, key=lambda lane: -overall[lane])):
        x, y = 32 + 160 * (place % 3), 48 + 19 * (place // 3)
        speed = f"{overall[lane]:.2f}" if overall[lane] else ""
        marks += [mark(lane, x, y), text(x + 12, y + 4, f"{label_of(lane)} {speed}")]
    return marks


def borders(compared: list[Side], bottom: float) -> list[str]:
    """For each method the acceptance from which on it gains GAIN, by the cost model; and that of each task here."""

    def to_x(ratio: float) -> float:
        part = math.log(ratio / RATIOS[0]) / math.log(RATIOS[-1] / RATIOS[0])
        return RIGHT[0] + (RIGHT[1] - RIGHT[0]) * part

    def to_y(alpha: float) -> float:
        return bottom - (bottom - TOP) * alpha

    marks = [
        text(RIGHT[0] - 36, 28, f"Above its line a method gains {100 * (GAIN - 1):.0f} %", size=15, weight=600),
        small(RIGHT[0] - 36, 48, "by the cost model; dashed: free rows."),
        small(RIGHT[0] - 36, 63, "DuoDecoding: over vanilla on its target's cores."),
        small(RIGHT[0] - 36, 78, "Marks: acceptance measured here, one per task."),
    ]
    for alpha in (0, 0.25, 0.5, 0.75, 1):
        marks.append(f'<path d="M{RIGHT[0]} {to_y(alpha):.1f}H{RIGHT[1]}" stroke="{LINE}"/>')
        marks.append(text(RIGHT[0] - 8, to_y(alpha) + 4, f"{alpha:g}", anchor="end", colour=SOFT))
    marks += [tick(to_x(ratio), bottom, ratio, LINE) for ratio in (0.5, 2, 8, 32, 128)]
    marks.append(small(sum(RIGHT) / 2, bottom + 36, "time of a target pass / draft step", anchor="middle"))
    y = (TOP + bottom) / 2
    marks.append(
        f'<text transform="translate({RIGHT[0] - 38} {y:.0f}) rotate(-90)" text-anchor="middle" font-size="12" '
        f'fill="{SOFT}">guesses accepted</text>'
    )
    for side in compared:
        for rows in ROWS:
            points = [(to_x(ratio), to_y(alpha)) for ratio, alpha in border(side.phi[rows])]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            dash = ' stroke-dasharray="4 3"' if rows == "free" else ""
            colour = look_of(side.lane).colour
            marks.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>' if points else "")
    # DuoTree's are those of SpS.
    simple = [side for side in compared if not side.ways]
    return marks + [mark(side.lane, to_x(side.ratio), to_y(point.alpha), 4) for side in simple for point in side.points]


def border(values: np.ndarray) -> list[tuple[float, float]]:
    """(ratio, the α at which φ comes to GAIN) for each ratio at which it does."""
    points = []
    for ratio, line in zip(RATIOS, values.T, strict=True):
        above = int(np.argmax(line >= GAIN))
        if line[above] >= GAIN:
            part = (GAIN - line[above - 1]) / (line[above] - line[above - 1]) if above else 0.0
            points.append((float(ratio), float(ALPHAS[max(0, above - 1)] + part * (ALPHAS[1] - ALPHAS[0]))))
    return points


def small(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return text(x, y, words, anchor=anchor, size=12, colour=SOFT)


def text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, weight: int = 400, colour: str = INK
) -> str:
    """An SVG text; x, y: of its anchor on the baseline."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def tick(x: float, bottom: float, value: float, colour: str) -> str:
    """A vertical line, and below it the value that it stands for."""
    number = text(x, bottom + 18, f"{value:g}", anchor="middle", colour=SOFT)
    return f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{colour}"/>{number}'


def corners(count: int, *, inner: float = 1.0) -> list[tuple[float, float]]:
    """Of a regular polygon that stands on a corner, every other corner drawn in."""
    angles = [2 * math.pi * number / count for number in range(count)]
    sizes = [1.0 if number % 2 == 0 else inner for number in range(count)]
    return [(size * math.sin(angle), -size * math.cos(angle)) for size, angle in zip(sizes, angles, strict=True)]


PLUS = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)]
# The marks of plotly's that methods have, each as corners around a middle.
MARKS = {
    "diamond": corners(4),
    "triangle-up": corners(3),
    "star": corners(10, inner=0.45),
    "hexagon": corners(6),
    "cross": [(x / 3, y / 3) for x, y in PLUS],
    "x": [((x - y) / 4.2, (x + y) / 4.2) for x, y in PLUS],
}


def mark(lane: str, x: float, y: float, size: float = 6.5) -> str:
    """A method's mark, in its colour."""
    filling = f'fill="{look_of(lane).colour}" stroke="{CARD}" stroke-width="1"'
    if shape := MARKS.get(look_of(lane).mark):
        points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in shape)
        return f'<polygon points="{points}" {filling}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{0.85 * size:.1f}" {filling}/>'
