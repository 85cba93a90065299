"""Results that come along with the program: those that were shipped, and the recorded runs as a sample of results."""

import gzip
import json
import zlib
from pathlib import Path

from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.plan import RECORDINGS
from duoviz.lab.results import Results, load
from duoviz.lab.rows import answer_row
from duoviz.lab.tasks import Question
from duoviz.recordings import ENDING
from duoviz.runs import Lane
from duoviz.trace.agreement import first_difference, written

NAME = "sample: the recorded runs"
# What the recorded prompt is.
TASK = "mt_bench"


def recorded_name(file: Path) -> str:
    """What shipped results are called on the page."""
    return f"{file.stem} (recorded)"


def shipped(file: Path) -> Results:
    """Shipped results, under the name that the page gives them. Raises LabError."""
    results = load(file)
    results.name = recorded_name(file)
    return results


def view_of(file: Path) -> dict:
    """What the page shows of shipped results: `first`, and its `parts`."""
    # It draws, with plotly, which the page need not wait for: what was kept is all that it shows at first.
    from duoviz.lab.report import first_view, parts_of

    results = shipped(file)
    return {"first": first_view(results), "parts": parts_of(results)}


def view_file(file: Path) -> Path:
    """Where the view of shipped results stands: beside their zip."""
    return file.with_suffix(".json.gz")


def kept_view(file: Path) -> dict | None:
    """The `view_of` that was kept beside shipped results; None where there is none."""
    try:
        return json.loads(gzip.decompress(view_file(file).read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error):
        return None


def sample(folder: Path) -> Results | None:
    """The recordings in a folder as the Lab's results; None where some are missing."""
    files = {method: folder / f"{method}{ENDING}" for method in METHODS}
    if not all(file.is_file() for file in files.values()):
        return None
    traces = {method: json.loads(file.read_text(encoding="utf-8")) for method, file in files.items()}
    headers = {method: trace["header"] for method, trace in traces.items()}
    question = Question(1, TASK, (headers["vanilla"]["prompt"],))
    tokens = headers["vanilla"]["settings"]["max_new_tokens"]
    rows = []
    for method, trace in traces.items():
        row = answer_row(question, Lane(method, method, Settings(max_new_tokens=tokens)), 0, [trace])
        if method != "vanilla" and first_difference(written(traces["vanilla"]), written(trace)) is None:
            row["verdict"] = "equal"
        rows.append(row)
    plan = {
        "quick": True,
        "source": RECORDINGS,
        "questions": 1,
        "tasks": [TASK],
        "max_new_tokens": tokens,
        "repeats": 1,
    }
    return Results(NAME, environment_of(headers), plan, rows)


def environment_of(headers: dict[str, dict]) -> dict:
    """Where the recordings were made, as far as they say; they hold the costs at the shorter context only."""
    together, in_turn = headers["duodecoding"], headers["speculative"]
    costs = {
        name: {side: [[seconds for _, seconds in header["calibration"][side]]] * 2 for side in ("target", "draft")}
        for name, header in ((TOGETHER, together), (IN_TURN, in_turn))
    }
    return {
        "date": together["date"],
        "pair": together["pair"],
        "models": {side: together[side]["name"] for side in ("target", "draft")},
        "devices": {
            "target": in_turn["target"]["device"],
            "target in DuoDecoding": together["target"]["device"],
            "draft in DuoDecoding": together["draft"]["device"],
        },
        "precision": {side: together[side]["precision"] for side in ("target", "draft")},
        "versions": together["versions"],
        "costs": costs,
    }
