"""The race as a Gradio component: `race/mount_race.js` fed by the component's value."""

from pathlib import Path

import gradio as gr

from duoviz.web.script import CSS, joined, joined_script
from duoviz.web.visualizer import one_file

HERE = Path(__file__).parent
RACE_FOLDER = HERE / "race"

# Each after those that it imports from; all after the visualizer's.
RACE_MODULES = ("model", "clock", "controls", "column", "curves", "finish", "inside", "mount_race")

# The value is a `visualizer.batch(…)` string.
GLUE = """
const receiver = createReceiver();
mountRace(element.querySelector(".dv-root"), receiver, { replayParts: () => server.one_file() });
watch("value", () => {
  if (props.value) receiver.take(JSON.parse(props.value));
});
"""


def race_script() -> str:
    """The race's modules and the visualizer's as one script."""
    return joined_script() + joined(RACE_FOLDER / f"{name}.js" for name in RACE_MODULES)


class Race(gr.HTML):
    """Shows two methods on one prompt: each as it runs, then both on one clock. Feed it `batch(…)` strings."""

    def __init__(self, **options):
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=CSS + (HERE / "race.css").read_text(encoding="utf-8"),
            js_on_load=race_script() + GLUE,
            apply_default_css=False,
            server_functions=[one_file],
            **options,
        )

    def api_info(self):
        return {"type": "string"}
