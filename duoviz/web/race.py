"""The race as a Gradio component: `race/mount_race.js` fed by the component's value."""

import json
from collections.abc import Sequence
from pathlib import Path

import gradio as gr

from duoviz import runner
from duoviz.comparison import summed_up
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.recordings import ENDING
from duoviz.trace.agreement import agreement, first_difference, written
from duoviz.trace.reading import TraceError, read_trace
from duoviz.web.published import publish
from duoviz.web.script import CSS, script
from duoviz.web.visualizer import one_file

HERE = Path(__file__).parent

# The value is a `visualizer.batch(…)` string.
GLUE = """
import { createReceiver } from "./visualizer/receiver.js";
import { PAGE_KEYS } from "./visualizer/help.js";
import { mountRace } from "./race/mount_race.js";
import { recordedEvents } from "./race/opening.js";
const receiver = createReceiver();
mountRace(element.querySelector(".dv-root"), receiver, {
  replayParts: () => server.one_file(), pageKeys: PAGE_KEYS,
  opening: props.recorded ? () => recordedEvents(JSON.parse(props.recorded), window.gradio_config.root) : null,
});
watch("value", () => {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  element.dataset.run = value.run;
  receiver.take(value);
});
"""


class Race(gr.HTML):
    """Shows two methods on one prompt: each as it runs, then both on one clock. Feed it `batch(…)` strings.

    recorded: the text of a `recorded_race`, which is shown before the first; "" for none.
    """

    def __init__(self, *, recorded: str = "", **options):
        # Gradio asks its components for their arguments by name.
        self.recorded = recorded
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=CSS + (HERE / "race.css").read_text(encoding="utf-8"),
            js_on_load=script(GLUE),
            apply_default_css=False,
            server_functions=[one_file],
            recorded=recorded,
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def recorded_race(folder: Path, methods: Sequence[str]) -> str:
    """A race of two recorded runs, for the browser: its lanes, where the recordings are read, and what it came to.

    "" where a recording is missing, or their texts differ: whether by a tie is not known without the models.
    """
    files = [folder / f"{method}{ENDING}" for method in methods]
    try:
        traces = [read_trace(file) for file in files]
    except TraceError:
        return ""
    texts = [written(trace) for trace in traces]
    if first_difference(*texts) is not None:
        return ""
    lanes = [runner.Lane(METHODS[method].title, method, Settings()) for method in methods]
    rows = [runner.row(trace, lane.name, 0) for lane, trace in zip(lanes, traces, strict=True)]
    recorded = {
        "lanes": [{"name": lane.name, "method": lane.method, "baseline": False} for lane in lanes],
        "recordings": [f"{publish(folder)}/{file.name}" for file in files],
        "result": summed_up(lanes, rows, {}, [agreement(*texts, 0.0)], None),
    }
    # No markup of the model's leaves the server as markup.
    return json.dumps(recorded, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
