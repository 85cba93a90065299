"""The race as a Gradio component: `front/entries/race.js` fed by the component's value."""

from collections.abc import Sequence
from pathlib import Path

from duoviz import runs
from duoviz.comparison import summed_up
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.recordings import ENDING
from duoviz.trace.agreement import agreement, first_difference, written
from duoviz.trace.reading import TraceError, read_trace
from duoviz.web.front import as_text
from duoviz.web.published import publish
from duoviz.web.scripted import Scripted
from duoviz.web.visualizer import one_file


class Race(Scripted):
    """Shows two methods on one prompt: each as it runs, then both on one clock. Feed it `batch(…)` strings.

    recorded: the text of a `recorded_race`, which is shown before the first; "" for none.
    """

    def __init__(self, *, recorded: str = "", **options):
        super().__init__("race", server_functions=[one_file], recorded=recorded, **options)


def recorded_race(folder: Path, methods: Sequence[str]) -> str:
    """A race of two recorded runs, for the browser: its lanes, where the recordings are read, and what it came to.

    "" where a recording is missing, or their texts differ: whether by a tie is not known without the models.
    """
    files = [folder / f"{method}{ENDING}" for method in methods]
    try:
        traces = [read_trace(file) for file in files]
    except TraceError:
        return ""
    first, second = (written(trace) for trace in traces)
    if first_difference(first, second) is not None:
        return ""
    lanes = [runs.Lane(METHODS[method].title, method, Settings()) for method in methods]
    # Each method was recorded at its best.
    rows = [runs.row(trace, lane.name, 0) | {"cores": "auto"} for lane, trace in zip(lanes, traces, strict=True)]
    shown = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in lanes]
    recordings = [f"{publish(folder)}/{file.name}" for file in files]
    result = summed_up(lanes, rows, {}, [agreement(first, second, 0.0)], None)
    return as_text({"lanes": shown, "recordings": recordings, "result": result})
