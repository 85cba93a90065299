"""The visualizer as a Gradio component: `visualizer/mount.js` fed by the component's value."""

import json
import re
from pathlib import Path

import gradio as gr

HERE = Path(__file__).parent
FOLDER = HERE / "visualizer"

# Each after those that it imports from.
MODULES = (
    "dom",
    "words",
    "in_turn",
    "sentence",
    "state",
    "numbers",
    "text",
    "layout",
    "candidates",
    "tree",
    "view",
    "lanes",
    "timeline",
    "charts",
    "player",
    "transport",
    "keys",
    "legend",
    "check",
    "export",
    "files",
    "mount",
)

# The value is a JSON string {run, seq, events}; a new run id or seq makes every value a new one.
GLUE = """
const subscribers = new Set();
const feed = {subscribe(callback) { subscribers.add(callback); return () => subscribers.delete(callback); }};
mount(element.querySelector(".dv-root"), feed);
let run = null, seen = -1;
watch("value", () => {
  if (!props.value) return;
  const batch = JSON.parse(props.value);
  const send = (event) => subscribers.forEach((callback) => callback(event));
  if (batch.run !== run) { run = batch.run; seen = -1; send({type: "reset", run}); }
  if (batch.seq <= seen) return;
  seen = batch.seq;
  batch.events.forEach(send);
});
"""


def joined_script() -> str:
    """The modules as one script: a browser runs `js_on_load` as a function's body, where nothing is imported."""
    texts = [(FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    return re.sub(r"^import .*\n|^export ", "", "\n".join(texts), flags=re.MULTILINE)


class Visualizer(gr.HTML):
    """Shows a run: text, tree, timeline, k and θ. Feed it `batch(…)` strings."""

    def __init__(self, **options):
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=(HERE / "visualizer.css").read_text(encoding="utf-8"),
            js_on_load=joined_script() + GLUE,
            apply_default_css=False,
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def batch(run: str, number: int, events: list[dict]) -> str:
    """One value of the component; `number` counts the values of a run."""
    text = json.dumps({"run": run, "seq": number, "events": events}, ensure_ascii=False, separators=(",", ":"))
    # No markup of the model's leaves the server as markup.
    return text.replace("<", "\\u003c")
