"""The visualizer as a Gradio component: `front/entries/visualizer.js` fed by the component's value."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from duoviz.web.front import as_text
from duoviz.web.published import publish
from duoviz.web.replay import replay_parts
from duoviz.web.scripted import Scripted

# What a script calls when another method is chosen: its recorded run is shown, where nothing of the visitor's is.
OF_METHOD = "(method) => { window.duoviz?.opening?.of(method); }"


class Opening(NamedTuple):
    """Recorded runs by their methods, the method whose run is shown first, and the sentence that stands with it."""

    files: Mapping[str, Path]
    method: str
    sentence: str


class Visualizer(Scripted):
    """Shows a run: text, tree, timeline, k and θ. Feed it `batch(…)` strings.

    opening: what is shown before the first run, see `Opening`.
    """

    def __init__(self, *, opening: Opening | None = None, **options):
        files, method, sentence = opening or Opening({}, "", "")
        addresses = {name: f"{publish(file.parent)}/{file.name}" for name, file in files.items()}
        opened = {"addresses": addresses, "method": method, "told": sentence}
        super().__init__("visualizer", server_functions=[one_file], opening=opened, **options)


def one_file(_asked: object) -> tuple[str, str]:
    """For the browser, which puts a trace between the two parts."""
    return replay_parts()


def batch(run: str, number: int, events: list[dict]) -> str:
    """One value of the component; `number` counts the values of a run."""
    return as_text({"run": run, "seq": number, "events": events})
