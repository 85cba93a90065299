"""Results as one picture for a page of text: speed-ups by task, and from which acceptance on drafting pays."""

import math
from collections.abc import Callable

import numpy as np

from duoviz.decoding import METHODS
from duoviz.lab.answers import speeds, tasks_of
from duoviz.lab.paying import GAIN, ROWS, sides
from duoviz.lab.plan import VANILLA, label_of, look_of
from duoviz.lab.prediction import ALPHAS, RATIOS
from duoviz.lab.results import Results
from duoviz.lab.tasks import ALL_TASKS, with_all
from tests.release.pages import HERE

WIDTH, ROW, TOP = 880, 30, 92
# Where the plots lie: of the speed-ups, and of the acceptances.
LEFT, RIGHT = (158, 500), (574, 856)
TEMPLATE = HERE.get_template("picture.svg")


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


def picture(results: Results) -> str:
    """The SVG."""
    environment, tasks = results.environment, with_all(tasks_of(results.rows))
    phis = {
        lane: {name: value.value for name, value in line.phi.items() if value}
        for lane, line in speeds(results.rows, METHODS).items()
        if lane != VANILLA
    }
    ranked = sorted(phis, key=lambda lane: -phis[lane].get(ALL_TASKS, 0.0))
    upward = sorted(phis, key=lambda lane: phis[lane].get(ALL_TASKS, 0.0))
    largest = 0.25 + max((phi for line in phis.values() for phi in line.values()), default=1)
    bottom = TOP + ROW * len(tasks)
    compared = sides(results)
    return TEMPLATE.render(
        title=f"Speed-ups over vanilla on {environment['devices']['target']}, {str(environment['date'])[:10]}",
        width=WIDTH, top=TOP, bottom=bottom, left=LEFT, right=RIGHT, marks=MARKS, look=look_of, gain=GAIN,
        phi_x=scale(LEFT, 0, largest),
        ratio_x=lambda ratio: scale(RIGHT, *map(math.log, (RATIOS[0], RATIOS[-1])))(math.log(ratio)),
        alpha_y=scale((bottom, TOP), 0, 1),
        ticks=np.arange(0, largest, max(0.5, largest // 8)),
        # The method of the largest φ over all tasks lies above the others.
        rows=[
            (name, TOP + ROW * (number + 0.5), [(lane, phis[lane][name]) for lane in upward if name in phis[lane]])
            for number, name in enumerate(tasks)
        ],
        legend=[
            (lane, f"{label_of(lane)} {f'{phis[lane][ALL_TASKS]:.2f}' if phis[lane].get(ALL_TASKS) else ''}")
            for lane in ranked
        ],
        borders=[(side.lane, border(side.phi[rows]), rows == "free") for side in compared for rows in ROWS],
        # DuoTree's are those of SpS.
        measured=[(one.lane, one.ratio, alpha) for one in compared if not one.lead for alpha, _ in one.points.values()],
    )  # fmt: skip


def scale(ends: tuple[float, float], low: float, high: float) -> Callable[[float], float]:
    """Where a value from low to high lies between two ends."""
    return lambda value: ends[0] + (ends[1] - ends[0]) * (value - low) / (high - low)


def border(values: np.ndarray) -> list[tuple[float, float]]:
    """(ratio, the α at which φ comes to GAIN) for each ratio at which it does."""
    points = []
    for ratio, line in zip(RATIOS, values.T, strict=True):
        above = int(np.argmax(line >= GAIN))
        if line[above] >= GAIN:
            part = (GAIN - line[above - 1]) / (line[above] - line[above - 1]) if above else 0.0
            points.append((float(ratio), float(ALPHAS[max(0, above - 1)] + part * (ALPHAS[1] - ALPHAS[0]))))
    return points
