"""The race as a Gradio component: `race/mount_race.js` fed by the component's value."""

from pathlib import Path

import gradio as gr

from duoviz.web.script import CSS, script
from duoviz.web.visualizer import one_file

HERE = Path(__file__).parent

# The value is a `visualizer.batch(…)` string.
GLUE = """
import { createReceiver } from "./visualizer/receiver.js";
import { mountRace } from "./race/mount_race.js";
const receiver = createReceiver();
mountRace(element.querySelector(".dv-root"), receiver, { replayParts: () => server.one_file() });
watch("value", () => {
  if (props.value) receiver.take(JSON.parse(props.value));
});
"""


class Race(gr.HTML):
    """Shows two methods on one prompt: each as it runs, then both on one clock. Feed it `batch(…)` strings."""

    def __init__(self, **options):
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=CSS + (HERE / "race.css").read_text(encoding="utf-8"),
            js_on_load=script(GLUE),
            apply_default_css=False,
            server_functions=[one_file],
            **options,
        )

    def api_info(self):
        return {"type": "string"}
