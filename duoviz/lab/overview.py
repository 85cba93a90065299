"""What the Lab's page shows first, as plain data: when drafting pays, and Table 1 as speed-ups beside the paper's."""

import numpy as np

from duoviz.lab import paper
from duoviz.lab.figures import colour_and_shape
from duoviz.lab.paying import GAIN, sides
from duoviz.lab.plan import DUO, SPS, VANILLA, label_of, table_lanes
from duoviz.lab.prediction import ALPHAS, RATIOS
from duoviz.lab.results import Results
from duoviz.lab.tasks import ALL_TASKS, TASKS, task_name, with_all
from duoviz.lab.values import acceptance, average, rows_of, speed_ups, tasks_of


def overview(results: Results) -> dict:
    """`pays` and `speeds`, see there."""
    return {"pays": pays(results), "speeds": speeds(results)}


def pays(results: Results) -> dict:
    """φ by the cost model for each method, over alphas (lines) and ratios, as rows cost `here` and where they are
    `free`; what was measured, task by task; and where this machine stands: the nearest places in both lists.

    over: what the method's φ is over, in words. gain: φ along the border. beside: for a method that chooses, the
    logarithm of how much faster its draft is beside the target than in turn, likewise.
    """
    compared = sides(results)
    panels = [
        {
            "method": label_of(side.lane),
            "ratio": side.ratio,
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
        "start": {"alpha": nearest(ALPHAS, alpha), "ratio": nearest(RATIOS, compared[0].ratio)},
        "panels": panels,
    }


def nearest(values: np.ndarray, value: float) -> int:
    """The index of the value that comes closest."""
    return int(np.argmin(np.abs(np.log(values) - np.log(value))))


def speeds(results: Results) -> dict:
    """Table 1 as speed-ups over vanilla: for each lane, by task, what was measured and the paper's values.

    base: vanilla's tokens per second, by task.
    """
    base, groups = rows_of(results.rows, VANILLA), with_all(tasks_of(results.rows))
    lines = [
        {
            "method": label_of(lane),
            "colour": colour_and_shape(lane)[0],
            "here": {
                name: {"phi": ratio.value, "spread": ratio.spread, "n": ratio.n}
                for name, ratio in values.items()
                if ratio
            },
            "paper": {model: papers_speed_ups(model, lane) for model in paper.TABLE_1},
        }
        for lane, values in speed_ups(results.rows, table_lanes()).items()
    ]
    return {
        # One task is all tasks.
        "tasks": list(groups) if len(groups) > 2 else list(groups)[1:],
        "papers": list(paper.TABLE_1),
        "base": {name: value.value for name, tasks in groups.items() if (value := average(base, tasks))},
        "lines": lines,
    }


def papers_speed_ups(model: str, lane: str) -> dict[str, float]:
    """The paper's φ by task: over all as it gives it, of a task the ratio of its tokens per second."""
    mine, base = paper.TABLE_1[model].get(lane), paper.TABLE_1[model][VANILLA]
    if not mine:
        return {}
    ratios = {name: one / other for name, one, other in zip(TASKS.values(), mine, base, strict=False)}
    return {ALL_TASKS: mine[-1]} | ratios
