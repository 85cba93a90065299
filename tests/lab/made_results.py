"""Results of the Lab made by hand."""

from dataclasses import asdict

from duoviz.decoding.theory import Acceptance
from duoviz.lab.plan import TARGET_ONLY, VANILLA
from duoviz.lab.results import Results
from duoviz.lab.rows import ARRAYS, TIME_PARTS

ENVIRONMENT = {
    "date": "2026-11-21T10:00:00+00:00",
    "pair": "embedded",
    "cpu": True,
    "models": {"target": "target", "draft": "draft"},
    "devices": {"target": "CPU cores 0, 1"},
    "precision": {"target": "float32", "draft": "int8"},
    "delta": 1e-4,
    "costs": {
        # 10 ms for one row of the target's and 1 ms more for each further one; 2 ms for a draft step.
        name: {"target": [[0.01 + 0.001 * (n - 1) for n in (1, 2, 4, 8, 16, 32)]] * 2, "draft": [[0.002] * 8] * 2}
        for name in ("together", "in turn")
    },
}


def row(lane, question=1, *, task="code", tokens=100, seconds=10.0, method=None, counts=(), committed=(), **arrays):
    """A row of one turn. arrays: its iterations', of which `each` is called `seconds` in a row.

    The target works all the time where nothing else is said.
    """
    steps = len(next(iter(arrays.values()), [0]))
    seconds_each = arrays.pop("each", [0.0] * steps)
    arrays = {"seconds": seconds_each, "target": seconds_each} | arrays
    turn = {
        "prompt_tokens": 10,
        "metrics": {"ttft": 0.5, "overlap": None},
        "time": dict.fromkeys(TIME_PARTS, 0.0) | {"target": seconds},
        "counts": asdict(Acceptance()) | dict(counts),
        "iterations": {name: arrays.get(name, [0.0] * steps) for name in ARRAYS},
    }
    answer = {"decoding_steps": [steps], "new_tokens": [tokens], "wall_time": [seconds]}
    answer["accept_lengths"] = committed or [tokens / steps] * steps
    return {
        "question_id": question,
        "model_id": lane,
        "choices": [answer],
        "task": task,
        "repeat": 0,
        "verdict": None if lane == VANILLA else "equal",
        "settings": {"method": method or lane, "cores": "target" if lane == TARGET_ONLY else "all"},
        "measured": [turn],
    }


def results(*rows, **others):
    plan = {"quick": False, "max_new_tokens": 128, "questions": 2, "repeats": 1, "source": "own"}
    return Results("made", ENVIRONMENT, plan, list(rows), **others)
